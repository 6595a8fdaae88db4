// Makes names of types, which the program may ask for, twice as long with each step. Memory or time must stop the compiler.
#include <cstdio>
template <class A, class B>
struct P {};
template <int N, class T>
struct F {
  static void go() {
    puts(__PRETTY_FUNCTION__);
    F<N - 1, P<P<T, int>, P<T *, P<T, T>>>>::go();
  }
};
template <class T>
struct F<0, T> {
  static void go() { puts(__PRETTY_FUNCTION__); }
};
int main() { F<24, int>::go(); }
