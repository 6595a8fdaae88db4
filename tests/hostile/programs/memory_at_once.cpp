// Takes far more memory than there is, and touches it page by page as fast as it can. It must be stopped before it reaches
// the wall, or there.
#include <sys/mman.h>
int main() {
  const unsigned long size = 4ul << 30;
  auto *memory = (volatile char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (unsigned long n = 0; n < size; n += 4096) memory[n] = 1;
}
