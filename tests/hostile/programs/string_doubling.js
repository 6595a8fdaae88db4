// Doubles a string that is only a tree of halves, then makes it flat. Memory must stop it, or the language's own limit.
let text = 'x';
const kept = [];
for (let n = 0; n < 28; n++) text += text;
for (;;) kept.push(Buffer.from(text + kept.length));
