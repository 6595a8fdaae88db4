// Loads native code and the insides of the language. It may: what it reaches then must be as closed as before.
const fs = require('fs');
let reached = [];
for (const path of ['/proc/1/environ', '/proc/1/mem', '/box/stage/main.js', '/etc/shadow'])
  try {
    reached.push(fs.readFileSync(path, 'latin1').slice(0, 20).replaceAll('\0', ''));
  } catch {}
try {
  process.dlopen({ exports: {} }, '/usr/lib/x86_64-linux-gnu/libc.so.6');
} catch {}
console.log(reached.join('') || 'nothing');
