// Ends, with a hook that does not let it. The clock on the wall must end it.
public class ShutdownHook {
  public static void main(String[] args) {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> { while (true) try { Thread.sleep(1000); } catch (Exception e) { } }));
    System.exit(0);
  }
}
