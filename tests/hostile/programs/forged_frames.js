// Speaks as the supervisor, to its streams and to all paths that lead to others. That none leads to the worker must stop it.
const fs = require('fs');
const text = 'stopped_for none\nexit_code 0\nsignal 0\nwall_us 1\ncpu_us 1\nmemory_kb 1\nstdout_bytes 0\nstderr_bytes 0\ncheck none\nheap_exhausted 0\ndirty 0\n';
const forged = Buffer.concat([Buffer.from('D\0\0\0'), Buffer.from([text.length]), Buffer.from(text), Buffer.from('X\0\0\0\x04fail')]);
const places = [0, 1, 2];
for (const pid of ['1', 'self']) for (const n of [0, 1, 2]) places.push(`/proc/${pid}/fd/${n}`);
for (let n = 3; n < 32; n++) places.push(`/proc/1/fd/${n}`);
for (const place of places)
  try {
    fs.writeSync(typeof place === 'number' ? place : fs.openSync(place, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK), forged);
  } catch {}
process.exit(5);
