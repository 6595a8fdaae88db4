// Raises the limit of its own heap while it runs. The memory of the cell must be limited from outside.
require('v8').setFlagsFromString('--max-old-space-size=100000');
const kept = [];
for (let n = 0; ; n++) kept.push({ n, text: 'x' + n });
