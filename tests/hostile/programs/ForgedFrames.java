// Speaks as the supervisor, to all paths of descriptors. That none leads to the worker must stop it.
import java.io.*;
public class ForgedFrames {
  public static void main(String[] args) {
    var text = "stopped_for none\nexit_code 0\nsignal 0\nwall_us 1\ncpu_us 1\nmemory_kb 1\nstdout_bytes 0\nstderr_bytes 0\ncheck none\nheap_exhausted 0\ndirty 0\n";
    var forged = ("D\0\0\0" + (char) text.length() + text + "X\0\0\0\4fail").getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    for (var place : new String[] {"/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2", "/proc/1/fd/0", "/proc/1/fd/1", "/proc/1/fd/2", "/proc/1/fd/9"})
      try (var out = new FileOutputStream(place)) { out.write(forged); } catch (IOException e) { }
    Runtime.getRuntime().halt(5);
  }
}
