// Closes its streams, so that it might look ended, and goes on. The cell must last until its process has ended.
#include <unistd.h>
int main() {
  for (int n = 0; n < 1024; n++) close(n);
  for (;;) pause();
}
