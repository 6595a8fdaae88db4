// Sends every signal to the first process of its name space, and to its own group. The first must take none of them.
#include <unistd.h>

#include <csignal>
#include <cstdio>
int main() {
  int taken = 0;
  for (int n = 0; n < 65; n++) taken += kill(1, n) == 0;
  puts(taken ? "taken" : "refused");
  return 5;
}
