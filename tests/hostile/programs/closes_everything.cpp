// Closes all that it has and ends well. That must be a success without output, not a lost cell.
#include <unistd.h>
int main() {
  for (int n = 0; n < 1024; n++) close(n);
  return 0;
}
