// Has the compiler read from the pipe that it writes its errors to, where nothing ever comes. A limit of time must end it.
#include "/proc/self/fd/2"
int main() {}
