// Starts threads that wait, for ever, whatever the machine says. Threads must count as processes, and time or memory end it.
public class ThreadBomb {
  public static void main(String[] args) {
    while (true)
      try {
        new Thread(() -> { try { Thread.sleep(60000); } catch (Exception e) { } }).start();
      } catch (Throwable e) { }
  }
}
