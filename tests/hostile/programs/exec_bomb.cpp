// Starts itself again by vfork, for ever, from every process. The limit of processes and CPU time must stop it.
#include <unistd.h>
int main() {
  for (;;)
    if (vfork() == 0) {
      execl("/proc/self/exe", "again", nullptr);
      _exit(1);
    }
}
