// Writes bytes that are no text, and controls that would end a line in some readers. They must arrive as they are.
public class InvalidBytes {
  public static void main(String[] args) throws Exception {
    System.out.write(new byte[] {(byte) 0xff, 0, (byte) 0xc3, 0x28, 0x0b, 0x0c, 0x1c, 0x1e, (byte) 0x85, 0x1b, 0x5b, 0x41});
    System.out.flush();
  }
}
