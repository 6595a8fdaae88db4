// Makes empty files for ever in the working directory, as fast as a compiled program can. Time or the wall must stop it.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
int main() {
  char name[32];
  for (int n = 0;; n++) {
    snprintf(name, sizeof name, "%d", n);
    close(open(name, O_CREAT, 0600));
  }
}
