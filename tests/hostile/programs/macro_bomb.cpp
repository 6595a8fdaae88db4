// Arguments of macros are expanded in full before they are put in: two to the power of 30 tokens. Memory or time must stop it.
#define A(x) x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x
int main() { A(A(A(A(A(A(1;)))))) }
