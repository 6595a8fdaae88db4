// Makes as many mappings as it can, each of one page and unlike its neighbour: memory of the kernel. Time or the wall must
// stop it.
#include <sys/mman.h>
int main() {
  for (int n = 0;; n++)
    mmap(nullptr, 4096, n % 2 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
