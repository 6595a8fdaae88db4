// Closes its streams and goes on. The cell must last until its process has ended.
const fs = require('fs');
for (const stream of [0, 1, 2]) fs.closeSync(stream);
setInterval(() => {}, 1000);
