// Takes memory through WebAssembly, which reserves gigabytes at once. What is touched must count.
const kept = [];
for (;;) {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 65536 });
  new Uint8Array(memory.buffer).fill(1);
  kept.push(memory);
}
