// Makes errors and notes without end. What a compiler prints must be cut, and be no more than an error.
template <int N>
void f() {
  int x = undeclared + N;
  f<N + 1>();
}
#define T(x) x x x x x x x x x x
#define U T(T(T(int g() { return nothing; })))
U int main() { f<0>(); }
