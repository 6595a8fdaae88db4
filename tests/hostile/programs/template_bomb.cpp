// Instantiates two templates in each. Time or the compiler's depth must stop it.
template <int D, int N>
struct Bomb {
  static constexpr int value = Bomb<D - 1, 2 * N>::value + Bomb<D - 1, 2 * N + 1>::value;
};
template <int N>
struct Bomb<0, N> {
  static constexpr int value = N;
};
int main() { return Bomb<26, 0>::value; }
