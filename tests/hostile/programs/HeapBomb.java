// Fills its heap with objects, and catches the error to go on. The first full heap must have left its mark, if it ends badly.
public class HeapBomb {
  public static void main(String[] args) {
    var kept = new java.util.ArrayList<Object>();
    try { while (true) kept.add(new long[1000]); } catch (OutOfMemoryError e) { }
    kept = null;
    System.exit(3);
  }
}
