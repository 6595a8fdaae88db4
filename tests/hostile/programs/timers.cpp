// Makes as many timers as it can, each due every nanosecond, and a handler. The work that they make must be charged to it.
#include <csignal>
#include <ctime>
int main() {
  signal(SIGALRM, [](int) {});
  itimerspec often{{0, 1}, {0, 1}};
  timer_t timer;
  for (int n = 0; n < 10000; n++)
    if (timer_create(CLOCK_MONOTONIC, nullptr, &timer) == 0) timer_settime(timer, 0, &often, nullptr);
  for (volatile long n = 0;; n = n + 1) {
  }
}
