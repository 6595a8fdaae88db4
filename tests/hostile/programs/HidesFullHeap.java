// Fills its heap and takes the mark of it away. That a failure becomes
// another failure must be all that comes of it.
public class HidesFullHeap {
  public static void main(String[] args) throws Exception {
    try { long[] kept = new long[1 << 28]; } catch (OutOfMemoryError e) { }
    new java.io.File("/run/report/heap-exhausted").delete();
    System.exit(3);
  }
}
