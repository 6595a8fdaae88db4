// Touches what programs commonly use, so that those classes of the JDK are in the shared archive. Not part of the image.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StreamTokenizer;
import java.io.StringReader;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.function.*;
import java.util.regex.Pattern;
import java.util.stream.*;

public class Warmup {
    record Pair(int first, String second) {}

    interface Shape {
        double area();
    }

    public static void main(String[] args) throws Exception {
        Scanner scanner = new Scanner("4 5.5 word\nline\n");
        System.out.println(scanner.nextInt() + " " + scanner.nextDouble() + scanner.next() + scanner.nextLine());
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        new StreamTokenizer(new StringReader("1 2")).nextToken();
        PrintWriter out = new PrintWriter(System.out);
        out.printf("%d %s %.3f %5d %x%n", 1, "a", 1.5, 2, 255);
        out.println(String.format("%s", List.of(1, 2)));
        Map<String, List<Integer>> map = new HashMap<>();
        for (int i = 0; i < 20; i++) map.computeIfAbsent("k" + i % 3, key -> new ArrayList<>()).add(i);
        new TreeMap<>(map).forEach((key, value) -> out.println(key + value));
        Deque<Integer> deque = new ArrayDeque<>(List.of(3, 1, 2));
        PriorityQueue<Integer> queue = new PriorityQueue<>(Comparator.comparing((Integer i) -> -i).thenComparing(Comparator.naturalOrder()));
        queue.addAll(deque);
        Set<Object> set = new LinkedHashSet<>(new TreeSet<>(deque));
        set.addAll(new LinkedList<>(new HashSet<>(deque)));
        BitSet bits = new BitSet(10);
        bits.set(3);
        int[] numbers = IntStream.range(0, 10).map(i -> i * i).filter(i -> i % 2 == 0).toArray();
        Integer[] boxed = Arrays.stream(numbers).boxed().sorted(Collections.reverseOrder()).toArray(Integer[]::new);
        Arrays.sort(boxed, (a, b) -> b - a);
        Arrays.sort(numbers);
        Arrays.fill(new int[2][2], new int[2]);
        Collections.sort(new ArrayList<>(List.of("b", "a")));
        Collections.shuffle(new ArrayList<>(List.of(1, 2)), new Random(1));
        out.println(Arrays.asList(boxed) + Arrays.toString(numbers) + Arrays.deepToString(new int[][] {{1}}));
        out.println(Stream.of("a", "b", "c").collect(Collectors.groupingBy(String::length, Collectors.counting())));
        out.println(Stream.of("a", "b").map(String::toUpperCase).collect(Collectors.joining(",", "[", "]")));
        out.println(Stream.of(new Pair(1, "x")).collect(Collectors.toMap(Pair::first, Pair::second)).toString());
        out.println(IntStream.rangeClosed(1, 5).mapToObj(Integer::toString).toList());
        out.println(new BigInteger("123").multiply(BigInteger.TWO).mod(BigInteger.TEN) + " " + new BigDecimal("1.5").add(BigDecimal.ONE));
        out.println(Pattern.compile("(\\w+)\\s").matcher("a b c").replaceAll("$1-") + "a,b".split(",").length + "x".repeat(3));
        out.println(Optional.of(1).map(i -> i + 1).orElse(0) + new StringBuilder("abc").reverse().toString());
        Function<Integer, Integer> twice = i -> i * 2;
        BiFunction<Integer, Integer, Integer> plus = Integer::sum;
        Supplier<String> text = () -> "s" + twice.andThen(i -> i + 1).apply(3) + plus.apply(1, 2);
        Shape shape = () -> Math.PI * Math.pow(2, 2) + Math.sqrt(2);
        out.println(text.get() + shape.area() + switch (numbers.length) { case 5 -> "five"; default -> "more"; });
        Thread thread = new Thread(() -> out.println("thread"));
        thread.start();
        thread.join();
        try {
            Objects.requireNonNull(null);
            throw new IllegalStateException("never");
        } catch (NullPointerException expected) {
            out.println(expected);
        }
        out.println("été €".getBytes(StandardCharsets.UTF_8).length + " " + Long.parseLong("12") + Character.isDigit('1'));
        out.flush();
    }
}
