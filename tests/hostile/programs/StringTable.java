// Interns strings without end, in a table that lives outside of the heap. A limit must stop it.
public class StringTable {
  public static void main(String[] args) {
    var kept = new java.util.ArrayList<String>();
    for (int n = 0;; n++) kept.add(("x".repeat(100) + n).intern());
  }
}
