// Leaves the mark of a full heap without having one. The machine's own mark looks the same, so that it is believed: that
// a failure becomes another failure must be all that comes of it.
public class ForgedHeapReport {
  public static void main(String[] args) throws Exception {
    new java.io.File("/run/report/heap-exhausted").createNewFile();
    System.exit(3);
  }
}
