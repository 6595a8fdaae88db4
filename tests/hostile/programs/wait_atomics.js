// Waits in the only thread it has for a change that nobody can make. The clock on the wall must end it.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
