// Does its work before main, in a constructor and in an initialiser, and never gets there. Limits must hold from the first
// instruction on.
#include <unistd.h>
__attribute__((constructor)) static void early() { write(1, "early", 5); }
static int forever = [] {
  for (volatile long n = 0;; n = n + 1) {
  }
  return 0;
}();
int main() { return forever; }
