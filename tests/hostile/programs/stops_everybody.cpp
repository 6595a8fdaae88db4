// Stops all processes that it may and, with a child, itself. The init of the cell must not be among them, and the clock on the
// wall must end them.
#include <unistd.h>

#include <csignal>
int main() {
  if (fork() == 0) {
    kill(1, SIGSTOP);
    kill(-1, SIGSTOP);
  }
  kill(1, SIGSTOP);
  for (;;) raise(SIGSTOP);
}
