// Kills itself as the kernel does when memory has run out. No limit was reached: it must be its own failure.
#include <csignal>
int main() { raise(SIGKILL); }
