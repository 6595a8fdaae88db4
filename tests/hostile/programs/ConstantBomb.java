// Has the compiler join constants: each twice as long as the one before. Its memory must stop it.
public class ConstantBomb {
  static final String A = "0123456789012345678901234567890123456789012345678901234567890123", B = A + A + A + A + A + A + A + A;
  static final String C = B + B + B + B + B + B + B + B, D = C + C + C + C + C + C + C + C, E = D + D + D + D + D + D + D + D;
  static final String F = E + E + E + E + E + E + E + E, G = F + F + F + F + F + F + F + F, H = G + G + G + G + G + G + G + G;
  static final String I = H + H + H + H + H + H + H + H, J = I + I + I + I + I + I + I + I, K = J + J + J + J + J + J + J + J;
  public static void main(String[] args) { System.out.println(K.length()); }
}
