// Reads keys of the kernel's key rings, which are no part of any name space that a container has. There must be none.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
int main() {
  char buffer[256];
  bool reached = syscall(SYS_request_key, "user", "secret", nullptr, -3) >= 0;
  for (int ring = -1; ring > -9; ring--) {
    long size = syscall(SYS_keyctl, 11 /* read */, ring, buffer, sizeof buffer);
    reached |= size > 0;
  }
  for (int id = 1; id < 5000; id++) reached |= syscall(SYS_keyctl, 11, id, buffer, sizeof buffer) > 0;
  puts(reached ? "reached" : "nothing");
}
