// Locks its memory so that it could not be swapped out. The limit of locked memory must refuse.
#include <sys/mman.h>

#include <cstdio>
int main() {
  static char memory[1 << 20];
  bool locked = mlock(memory, sizeof memory) == 0 || mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  puts(locked ? "locked" : "refused");
}
