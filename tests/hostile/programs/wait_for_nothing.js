// Keeps the event loop alive with a server that nobody can reach. The clock on the wall must end it.
require('net').createServer(() => {}).listen(0);
