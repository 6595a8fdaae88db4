// Does not get to its main method: a class initialiser never ends. Limits must hold from the first instruction on.
public class StaticInitialiser {
  static int n;
  static { while (n >= 0) n = (n + 1) & 7; }
  public static void main(String[] args) { }
}
