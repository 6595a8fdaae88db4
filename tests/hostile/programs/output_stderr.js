// Floods stderr. It must have the same limit as stdout.
const fs = require('fs');
for (;;) fs.writeSync(2, 'x'.repeat(1000));
