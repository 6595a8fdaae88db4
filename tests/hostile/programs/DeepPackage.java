// Has the compiler make folders deeper than the supervisor's own tools like to go. They must be carried along, and cleared away.
package a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a;
public class DeepPackage {
  public static void main(String[] args) { System.out.println("done"); }
}
