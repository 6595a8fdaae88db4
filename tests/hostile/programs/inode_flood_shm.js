// Makes empty files for ever in the place of shared memory. Time must stop it.
const fs = require('fs');
for (let n = 0; ; n++) fs.closeSync(fs.openSync(`/dev/shm/${n}`, 'w'));
