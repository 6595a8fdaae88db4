// Recurses for ever. The language must end it with an error of its own.
const f = (n) => f(n + 1) + 1;
f(0);
