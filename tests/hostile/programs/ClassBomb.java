// Defines classes without end: memory that is neither heap nor stack. The cell's memory or time must stop it.
import java.lang.reflect.Proxy;
public class ClassBomb {
  static class Loader extends ClassLoader { }
  public static void main(String[] args) {
    var kept = new java.util.ArrayList<Object>();
    while (true)
      kept.add(Proxy.newProxyInstance(new Loader() { }, new Class<?>[] {Runnable.class}, (p, m, a) -> null));
  }
}
