// Prints faster than anybody reads, without waiting: what is not read stays in its memory. A limit must stop it.
const print = () => {
  for (let n = 0; n < 1000; n++) process.stdout.write('x'.repeat(1000));
  setImmediate(print);
};
print();
