// Fills /tmp. The size of the cell's file system must stop it.
const fs = require('fs');
let written = 0;
try {
  for (let n = 0; ; n++) written += fs.writeSync(fs.openSync(`/tmp/${n}`, 'w'), Buffer.alloc(1 << 20, 1));
} catch (error) {
  console.log(error.code === 'ENOSPC' && written < 17 << 20 ? 'bounded' : [error.code, written]);
}
