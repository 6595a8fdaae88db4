// Takes memory outside of the heap. It must count as any other.
const kept = [];
for (;;) kept.push(Buffer.alloc(1 << 20, 1));
