// Recurses for ever. The stack must end, and that end be told as its own crash, whatever the memory limit is.
int f(int n) {
  volatile char kept[4000];
  kept[n % 4000] = 1;
  return f(n + 1) + kept[0];
}
int main() { return f(0); }
