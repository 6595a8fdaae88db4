// Includes itself twice, without end: two to the power of its depth. The compiler's depth, then time, must stop it.
#include __FILE__
#include __FILE__
int main() {}
