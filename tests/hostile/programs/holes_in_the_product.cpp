// Aligns data so far apart that the linker leaves holes of many megabytes, more than the disk of the run. Copying the product
// must keep the holes.
#include <cstdio>
alignas(1 << 24) char first = 1;
alignas(1 << 24) char second = 1;
int main() { puts(first == second ? "done" : "lost"); }
