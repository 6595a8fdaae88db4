// Asks the services by which clouds give credentials to what runs in them. Nothing must answer.
import java.net.*;
public class Metadata {
  public static void main(String[] args) {
    String reached = "";
    for (var page : new String[] {"http://169.254.169.254/latest/api/token", "http://metadata.google.internal/", "http://[fd00:ec2::254]/", "http://100.100.100.200/"})
      try {
        var connection = (HttpURLConnection) new URI(page).toURL().openConnection();
        connection.setConnectTimeout(1000);
        connection.getInputStream().read();
        reached += page;
      } catch (Exception e) { if (e instanceof SocketTimeoutException) reached += " hangs"; }
    System.out.println(reached.isEmpty() ? "nothing" : reached);
  }
}
