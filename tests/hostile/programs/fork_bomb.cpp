// Forks for ever, from every process. The limit of processes must stop its growth, that of CPU time must end it.
#include <unistd.h>
int main() {
  for (;;) fork();
}
