// Makes garbage with finalisers and weak references, so that the collector has all the work. It must be charged to the program.
public class GarbageStorm {
  public static void main(String[] args) {
    var kept = new java.lang.ref.WeakReference<?>[100_000];
    for (int n = 0;; n++) kept[n % kept.length] = new java.lang.ref.WeakReference<>(new long[n % 50]);
  }
}
