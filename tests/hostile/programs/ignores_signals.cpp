// Ignores and blocks every signal, and burns. What ends it must be the one that cannot be ignored.
#include <csignal>
int main() {
  sigset_t all;
  sigfillset(&all);
  for (int n = 1; n < 65; n++) signal(n, SIG_IGN);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  for (volatile long n = 0;; n = n + 1) {
  }
}
