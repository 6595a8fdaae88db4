// Has the compiler read the memory of the first process and the staging directory. Neither may be open to it.
#include "/proc/1/mem"
#include "/proc/1/root/box/stage/main.cpp"
#include "/box/stage/main.cpp"
int main() {}
