// Makes processes that share memory, files and file system with it, without the C library knowing. They must count as any.
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
static int spin(void *) {
  for (volatile long n = 0;; n = n + 1) {
  }
}
int main() {
  for (;;) clone(spin, (char *)malloc(16384) + 16384, CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND, nullptr);
}
