// Starts threads with a heap of their own each, which no option of the main heap counts. The cell's limits must.
const { Worker } = require('worker_threads');
for (let n = 0; n < 20; n++)
  new Worker('const kept = []; for (;;) kept.push("x".repeat(1000) + kept.length)', { eval: true }).on('error', () => {});
