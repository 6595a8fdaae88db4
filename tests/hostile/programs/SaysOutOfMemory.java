// Says that its memory was full, in the machine's own words, and ends with its exit code for that. Words must not count.
public class SaysOutOfMemory {
  public static void main(String[] args) {
    System.err.println("Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\nTerminating due to java.lang.OutOfMemoryError");
    System.exit(3);
  }
}
