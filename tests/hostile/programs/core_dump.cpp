// Crashes with a large memory, so that a core is written somewhere. None must be.
#include <cstdlib>
int main() {
  static volatile char memory[16 << 20];
  for (unsigned n = 0; n < sizeof memory; n += 4096) memory[n] = 1;
  abort();
}
