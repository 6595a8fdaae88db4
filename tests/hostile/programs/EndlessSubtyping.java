// Asks the compiler whether one type is another's subtype, which it answers by asking the same of larger types, for ever. Its stack
// ends first, and that must be the program's error.
public class EndlessSubtyping {
  static class N<Z> { }
  static class C<X> extends N<N<? super C<C<X>>>> { }
  static N<? super C<Byte>> cast(C<Byte> c) { return c; }
  public static void main(String[] args) { }
}
