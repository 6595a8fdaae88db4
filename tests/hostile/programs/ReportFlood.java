// Fills the place where the machine reports a full heap. It must have the disk's limit, and the run end as it does.
import java.nio.file.*;
public class ReportFlood {
  public static void main(String[] args) throws Exception {
    long written = 0;
    try (var out = Files.newOutputStream(Path.of("/run/report/.flood"))) {
      while (true) { out.write(new byte[65536]); written += 65536; }
    } catch (java.io.IOException e) {
      System.out.println(written < 17 << 20 ? "bounded" : "too much");
    }
  }
}
