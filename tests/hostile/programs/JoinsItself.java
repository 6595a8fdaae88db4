// Waits for its own end. The clock on the wall must bring it.
public class JoinsItself {
  public static void main(String[] args) throws Exception { Thread.currentThread().join(); }
}
