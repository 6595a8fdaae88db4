// Hides code in comments behind escapes, which the compiler reads before comments. A file must have its name as the compiler sees
// it, and a mistake there must be the program's error.
// \u000a class Hidden { static { System.out.println("hidden"); } }
/* \u002a\u002f class Second { } \u002f\u002a */
public class UnicodeEscapes {
  public static void main(String[] args) { new Hidden(); System.out.println("done"); }
}
