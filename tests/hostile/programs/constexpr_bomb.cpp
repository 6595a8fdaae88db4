// Computes while it compiles, for longer than it may. Time must stop it.
template <int N>
constexpr int burn() {
  int sum = N;
  for (int i = 0; i < 1000; ++i)
    for (int j = 0; j < 2000; ++j) sum ^= i * j;
  return sum;
}
template <int N>
struct Bomb {
  static constexpr int value = burn<N>() ^ Bomb<N - 1>::value;
};
template <>
struct Bomb<0> {
  static constexpr int value = 0;
};
int main() { return Bomb<800>::value; }
