// Speaks as the supervisor and as the init of a cell, to every descriptor. That none leads to the worker must stop it.
#include <unistd.h>
int main() {
  const char report[] =
      "D\0\0\0\x8f" "stopped_for none\nexit_code 0\nsignal 0\nwall_us 1\ncpu_us 1\nmemory_kb 1\nstdout_bytes 0\nstderr_bytes 0\n"
      "check none\nheap_exhausted 0\ndirty 0\n" "X\0\0\0\4fail" "D\0\0\0\0\0\0\0\0S";
  for (int descriptor = 0; descriptor < 1024; descriptor++) write(descriptor, report, sizeof report - 1);
  return 5;
}
