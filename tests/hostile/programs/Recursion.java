// Recurses for ever. The stack must end with the language's own error.
public class Recursion {
  static int f(int n) { return f(n + 1) + 1; }
  public static void main(String[] args) { f(0); }
}
