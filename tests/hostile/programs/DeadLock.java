// Two threads wait for each other for ever. The clock on the wall must end them.
public class DeadLock {
  static void both(Object a, Object b, java.util.concurrent.CountDownLatch latch) {
    synchronized (a) { latch.countDown(); try { latch.await(); } catch (Exception e) { } synchronized (b) { } }
  }
  public static void main(String[] args) {
    Object a = new Object(), b = new Object();
    var latch = new java.util.concurrent.CountDownLatch(2);
    new Thread(() -> both(a, b, latch)).start();
    both(b, a, latch);
  }
}
