// Has the compiler quote environments in its errors: of the first process and its own. There must be nothing in them but what
// the runtime declares.
#include "/proc/1/environ"
#include "/proc/self/environ"
int main() {}
