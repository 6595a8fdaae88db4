// Signals the first process of its name space, and all others. The first must take none.
let taken = 0;
for (let n = 0; n < 65; n++)
  try {
    process.kill(1, n);
    taken++;
  } catch {}
console.log(taken || 'refused');
