// Floods both streams in turn, so that neither is far ahead. Each must have its limit.
#include <unistd.h>
int main() {
  static char block[1000];
  for (;;) {
    write(1, block, sizeof block);
    write(2, block, sizeof block);
  }
}
