// Has the compiler wait for input. It must have none.
#include "/dev/stdin"
int main() {}
