// Floods stdout and stderr from two threads. Each must have its limit.
public class OutputBoth {
  static void flood(java.io.PrintStream to) { while (true) to.println("x".repeat(1000)); }
  public static void main(String[] args) {
    new Thread(() -> flood(System.err)).start();
    flood(System.out);
  }
}
