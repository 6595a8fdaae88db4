// Says on descriptor 3 that its syntax is wrong, as the language's start-up would. That it is another one by now must stop it.
const fs = require('fs');
try {
  if (fs.fstatSync(3).isFIFO()) fs.writeSync(3, 'F');
} catch {}
console.log('done');
