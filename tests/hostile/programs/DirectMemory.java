// Takes memory outside of the heap, by the machine's back door, without any limit of its own. The cell's must hold.
public class DirectMemory {
  public static void main(String[] args) throws Exception {
    var field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
    field.setAccessible(true);
    var unsafe = (sun.misc.Unsafe) field.get(null);
    while (true) unsafe.setMemory(unsafe.allocateMemory(1 << 20), 1 << 20, (byte) 1);
  }
}
