// Fetches pages by the language's own client, which has its own resolver and its own ideas of proxies. Nothing must answer.
process.env.HTTPS_PROXY = 'http://172.17.0.1:3128';
Promise.allSettled(['http://example.com', 'http://169.254.169.254/latest/meta-data/', 'http://[::1]:2375/info'].map((page) => fetch(page))).then((all) =>
  console.log(all.every(({ status }) => status === 'rejected') ? 'nothing' : 'reached'));
