// Changes what all programs of the language stand on, and exits in its own way. How it ended must come from the kernel.
Object.prototype.code = 0;
Array.prototype.push = () => 0;
process.exit = () => {};
process.reallyExit(9);
