// Queues real-time signals to itself that it has blocked: memory of the kernel. Their number must be bounded.
#include <unistd.h>

#include <csignal>
#include <cstdio>
int main() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  long queued = 0;
  while (queued < 3000000 && sigqueue(getpid(), SIGRTMIN + queued % 20, {}) == 0) queued++;
  puts(queued < 3000000 ? "bounded" : "unbounded");
}
