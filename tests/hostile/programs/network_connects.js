// Connects to what a program in a cloud finds first: the metadata service, the host, the engine, the world. Nothing must answer,
// and nothing may hang.
const net = require('net');
const start = Date.now();
const places = [
  ['169.254.169.254', 80], ['100.100.100.200', 80], ['172.17.0.1', 2375], ['10.0.0.1', 443], ['1.1.1.1', 443], ['0.0.0.0', 6379], ['127.0.0.1', 5432],
];
const attempt = ([host, port]) =>
  new Promise((done) => net.connect({ host, port, timeout: 2000 }).on('connect', () => done(host)).on('error', () => done()).on('timeout', () => done('hangs')));
Promise.all(places.map(attempt)).then((found) => {
  console.log(found.filter(Boolean).join() || 'nothing', Date.now() - start < 2000);
  process.exit();
});
