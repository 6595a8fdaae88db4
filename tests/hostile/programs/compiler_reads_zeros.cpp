// Has the compiler read for ever. Its limits must stop it.
#include "/dev/zero"
int main() {}
