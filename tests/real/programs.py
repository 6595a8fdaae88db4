"""The table of verdicts: what a program does → what must be said of it, in every language that can do it.

Limits are small where a case is about them, and else so wide that load never reaches one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from sandbox.job import Limits
from sandbox.verdict import Limit, Phase, Verdict

ROOMY = Limits(wall_time_ms=120_000, cpu_time_ms=15_000, compile_time_ms=30_000, memory_mb=96, output_bytes=64 << 10)


@dataclass(frozen=True)
class Outcome:
    """``own_end`` False: how the process itself ended is not looked at, because two walls stand close together."""

    verdict: Verdict
    phase: Phase = Phase.RUN
    limit: Limit | None = None
    exit_code: int | None = None
    signal: str | None = None
    own_end: bool = True


@dataclass(frozen=True)
class Case:
    name: str
    language: str
    source: str
    expected: Outcome
    limits: Limits


@dataclass(frozen=True)
class Scenario:
    """``otherwise``: languages that end in another way."""

    name: str
    expected: Outcome
    programs: Mapping[str, str]
    limits: Mapping[str, int] = field(default_factory=dict)
    otherwise: Mapping[str, Outcome] = field(default_factory=dict)

    def cases(self) -> Iterator[Case]:
        for language, source in self.programs.items():
            expected = self.otherwise.get(language, self.expected)
            yield Case(f"{language} {self.name}", language, source, expected, replace(ROOMY, **self.limits))


def exits(code: int) -> Outcome:
    return Outcome(Verdict.SUCCEEDED if code == 0 else Verdict.RUNTIME_ERROR, exit_code=code)


def dies(signal: str) -> Outcome:
    return Outcome(Verdict.RUNTIME_ERROR, signal=signal)


def reaches(verdict: Verdict, limit: Limit, phase: Phase = Phase.RUN) -> Outcome:
    return Outcome(verdict, phase, limit, own_end=verdict is not Verdict.MEMORY_LIMIT)


COMPILE_ERROR = Outcome(Verdict.COMPILE_ERROR, Phase.COMPILE)
CPU_TIMEOUT = reaches(Verdict.TIMEOUT, Limit.CPU_TIME)
WALL_TIMEOUT = reaches(Verdict.TIMEOUT, Limit.WALL_TIME)
COMPILE_TIMEOUT = reaches(Verdict.TIMEOUT, Limit.COMPILE_TIME, Phase.COMPILE)
MEMORY_LIMIT = reaches(Verdict.MEMORY_LIMIT, Limit.MEMORY)
OUTPUT_LIMIT = reaches(Verdict.OUTPUT_LIMIT, Limit.OUTPUT)


def java(body: str) -> str:
    return (
        "public class Main {\n  public static void main(String[] args) throws Exception {\n    " + body + "\n  }\n}\n"
    )


def cpp(body: str, *headers: str) -> str:
    return "".join(f"#include <{name}>\n" for name in headers) + "int main() {\n  " + body + "\n}\n"


def _java_kills_itself(signal: str) -> str:
    return java(f'new ProcessBuilder("/bin/sh", "-c", "kill -{signal} $PPID").start().waitFor(); Thread.sleep(60000);')


# One process with 30 MB of its own.
_FAT_CHILD = "$kept = 'x' x 30000000; sleep 60"

SCENARIOS = (
    Scenario(
        "succeeds",
        exits(0),
        {
            "python": "print(24)",
            "javascript": "console.log(24)",
            "java": java("System.out.println(24);"),
            "cpp": cpp('puts("24");', "cstdio"),
        },
    ),
    Scenario(
        "does not compile",
        COMPILE_ERROR,
        {
            "python": "print('never')\ndef f(:\n    pass",
            "javascript": "console.log('never'); let x = ;",
            "java": java("int x = ;"),
            "cpp": cpp("return x;"),
        },
        # An interpreter that refuses a program ends by itself.
        otherwise=dict.fromkeys(("python", "javascript"), replace(COMPILE_ERROR, exit_code=1)),
    ),
    Scenario(
        "has a class whose name no file can have",
        COMPILE_ERROR,
        {"java": f"public class {'A' * 300} {{ public static void main(String[] args) {{ }} }}"},
    ),
    Scenario(
        "raises a syntax error while it runs",
        exits(1),
        {
            "python": "eval('def f(:')",
            "javascript": "eval('let x = ;')",
        },
    ),
    Scenario(
        "exits with 3",
        exits(3),
        {
            "python": "raise SystemExit(3)",
            "javascript": "process.exit(3)",
            "java": java("System.exit(3);"),
            "cpp": cpp("return 3;"),
        },
    ),
    Scenario(
        "exits with 137 as if it had been killed",
        exits(137),
        {
            "python": "import os; os._exit(137)",
            "javascript": "process.exit(137)",
            "java": java("System.exit(137);"),
            "cpp": cpp("return 137;"),
        },
    ),
    Scenario(
        "exits with 139 as if it had crashed",
        exits(139),
        {
            "python": "import os; os._exit(139)",
            "javascript": "process.exit(139)",
            "java": java("Runtime.getRuntime().halt(139);"),
            "cpp": cpp("_exit(139);", "unistd.h"),
        },
    ),
    Scenario(
        "prints Killed and exits with 1",
        exits(1),
        {
            "python": "import sys; print('Killed'); sys.exit('Killed: out of memory')",
            "javascript": "console.error('Killed'); process.exit(1)",
            "java": java('System.err.println("Killed\\njava.lang.OutOfMemoryError"); System.exit(1);'),
            "cpp": cpp('fputs("Killed\\n", stderr); return 1;', "cstdio"),
        },
    ),
    Scenario(
        "ends with an uncaught exception",
        exits(1),
        {
            "python": "raise ValueError",
            "javascript": "throw new Error()",
            "java": java("throw new IllegalStateException();"),
            "cpp": cpp("throw 1;"),
        },
        otherwise={"cpp": dies("SIGABRT")},
    ),
    Scenario(
        "dereferences nothing",
        dies("SIGSEGV"),
        {
            "python": "import ctypes; ctypes.string_at(0)",
            "javascript": "process.kill(process.pid, 'SIGSEGV'); setTimeout(() => {}, 60000)",
            "java": java(
                'var field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe"); '
                "field.setAccessible(true); ((sun.misc.Unsafe) field.get(null)).putLong(8, 1);"
            ),
            "cpp": cpp("*(volatile int *)8 = 1;"),
        },
        otherwise={"java": dies("SIGABRT")},  # the virtual machine's own handler of the crash ends with it
    ),
    Scenario(
        "aborts",
        dies("SIGABRT"),
        {
            "python": "import os; os.abort()",
            "javascript": "process.abort()",
            "java": _java_kills_itself("ABRT"),
            "cpp": cpp("abort();", "cstdlib"),
        },
    ),
    Scenario(
        "divides by zero",
        dies("SIGFPE"),
        {
            "python": "import os, signal; os.kill(os.getpid(), signal.SIGFPE)",
            "javascript": "process.kill(process.pid, 'SIGFPE'); setTimeout(() => {}, 60000)",
            "cpp": cpp("volatile int one = 1, zero = 0; return one / zero;"),
        },
    ),
    Scenario(
        "kills itself",
        dies("SIGKILL"),
        {
            "python": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "javascript": "process.kill(process.pid, 'SIGKILL'); setTimeout(() => {}, 60000)",
            "java": _java_kills_itself("KILL"),
            "cpp": cpp("raise(SIGKILL);", "csignal"),
        },
    ),
    Scenario(
        "recurses for ever",
        exits(1),
        {
            "python": "def f(): f()\nf()",
            "javascript": "function f() { f(); } f()",
            "java": "public class Main { static int f(int n) { return f(n + 1) + 1; }\n"
            "public static void main(String[] a) { f(0); } }",
            "cpp": "int f(int n) { volatile char kept[4000]; kept[n % 4000] = 1; return f(n + 1) + kept[0]; }\n"
            + cpp("return f(0);"),
        },
        otherwise={"cpp": dies("SIGSEGV")},
    ),
    Scenario(
        "loops for ever",
        CPU_TIMEOUT,
        {
            "python": "while True: pass",
            "javascript": "for (;;) {}",
            "java": java("while (true);"),
            "cpp": cpp("for (volatile int i = 0;; i = i + 1) {}"),
        },
        {"cpu_time_ms": 1_000},
    ),
    Scenario(
        "burns its time in children that nobody waits for",
        CPU_TIMEOUT,
        {
            "python": "import os, time\nfor _ in range(3):\n  if not os.fork():\n    while True: pass\ntime.sleep(60)",
            "cpp": cpp("if (!fork()) for (;;) {}\n  sleep(60);", "unistd.h"),
        },
        {"cpu_time_ms": 1_000},
    ),
    Scenario(
        "sleeps too long",
        WALL_TIMEOUT,
        {
            "python": "import time; time.sleep(60)",
            "javascript": "setTimeout(() => {}, 60000)",
            "java": java("Thread.sleep(60000);"),
            "cpp": cpp("sleep(60);", "unistd.h"),
        },
        {"wall_time_ms": 4_000},
    ),
    Scenario(
        "does not end compiling",
        COMPILE_TIMEOUT,
        {
            "cpp": """
template <int N> constexpr int burn() {
    int sum = N;
    for (int i = 0; i < 1000; ++i) for (int j = 0; j < 2000; ++j) sum ^= i * j;
    return sum;
}
template <int N> struct Bomb { static constexpr int value = burn<N>() ^ Bomb<N - 1>::value; };
template <> struct Bomb<0> { static constexpr int value = 0; };
int main() { return Bomb<800>::value; }""",
        },
        {"compile_time_ms": 3_000},
    ),
    Scenario(
        "needs longer to compile than it may",
        COMPILE_TIMEOUT,
        {
            "java": "public class Main {\n"
            + "".join(f"  static int f{n}(int n) {{ return n + {n}; }}\n" for n in range(2_000))
            + "}",
        },
        {"compile_time_ms": 400},
    ),
    Scenario(
        "exhausts memory compiling",
        reaches(Verdict.MEMORY_LIMIT, Limit.MEMORY, Phase.COMPILE),
        {
            # Arguments of macros are expanded in full before they are put in: 2 to the power of 30 tokens.
            "cpp": "#define D(x) x x\nint main() { " + "D(" * 30 + "1;" + ")" * 30 + " }",
            # Constants are joined by the compiler: 1,000 times 2 to the power of 24 letters.
            "java": f'public class Main {{ static final String S0 = "{"x" * 1_000}";\n'
            + "".join(f"static final String S{n} = S{n - 1} + S{n - 1};\n" for n in range(1, 25))
            + "}",
        },
    ),
    Scenario(
        "grows slowly beyond its memory",
        MEMORY_LIMIT,
        {
            "python": "kept = []\nwhile True: kept.append(bytearray(b'x' * 100_000))",
            "javascript": "const kept = []; for (;;) kept.push(Buffer.alloc(100000, 1))",
            "java": java("var kept = new java.util.ArrayList<byte[]>(); while (true) kept.add(new byte[100_000]);"),
            "cpp": cpp("std::vector<std::vector<char>> kept; for (;;) kept.emplace_back(100000, 'x');", "vector"),
        },
    ),
    Scenario(
        "fills its heap with small objects",
        MEMORY_LIMIT,
        {
            "python": "kept = []\nwhile True: kept.append([])",
            "javascript": "const kept = []; for (let i = 0;; i++) kept.push({ i, text: 'x' + i })",
            "java": java("var kept = new java.util.ArrayList<Object>(); while (true) kept.add(new Object[4]);"),
        },
    ),
    Scenario(
        "asks for too much at once",
        MEMORY_LIMIT,
        {
            "python": "kept = b'x' * (1 << 30)",
            "javascript": "const kept = Buffer.alloc(1 << 30, 1)",
            "java": java("byte[] kept = new byte[1 << 30];"),
            "cpp": cpp("std::vector<char> kept(1 << 30, 'x');", "vector"),
        },
    ),
    Scenario(
        "holds too much in many small processes together",
        MEMORY_LIMIT,
        {
            "python": "import os, time\nfor _ in range(12):\n  if not os.fork():\n    kept = b'x' * 20_000_000\n"
            "    time.sleep(60)\ntime.sleep(60)",
            "javascript": "const { spawn } = require('child_process');\n"
            f'for (let i = 0; i < 12; i++) spawn("/usr/bin/perl", ["-e", "{_FAT_CHILD}"])',
            "java": java(
                f'for (int i = 0; i < 12; i++) new ProcessBuilder("/usr/bin/perl", "-e", "{_FAT_CHILD}").start();\n'
                "    Thread.sleep(60000);"
            ),
            "cpp": cpp(
                "for (int i = 0; i < 12; i++) if (!fork()) { std::vector<char> kept(20000000, 'x'); sleep(60); }\n"
                "  sleep(60);",
                "vector",
                "unistd.h",
            ),
        },
    ),
    Scenario(
        "survives an exhausted heap",
        exits(0),
        {
            "python": "try:\n  bytearray(1 << 60)\nexcept MemoryError:\n  print('survived')",
            "java": java(
                "try { byte[] kept = new byte[1 << 30]; } catch (OutOfMemoryError e) { System.out.println(24); }"
            ),
            "cpp": cpp(
                "volatile char *kept; try { kept = new char[1ul << 60]; } catch (...) { return 0; } return *kept;"
            ),
        },
    ),
    Scenario(
        "writes too much to stdout",
        OUTPUT_LIMIT,
        {
            "python": "while True: print('x' * 1000)",
            "javascript": "for (;;) require('fs').writeSync(1, 'x'.repeat(1000))",
            "java": java('while (true) System.out.println("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");'),
            "cpp": cpp('for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");', "cstdio"),
        },
    ),
    Scenario(
        "writes too much to stderr",
        OUTPUT_LIMIT,
        {
            "python": "import sys\nwhile True: print('x' * 1000, file=sys.stderr)",
            "javascript": "for (;;) require('fs').writeSync(2, 'x'.repeat(1000))",
            "java": java('while (true) System.err.println("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");'),
            "cpp": cpp('for (;;) fputs("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", stderr);', "cstdio"),
        },
    ),
    Scenario(
        "writes a little too much and exits with 0 at once",
        OUTPUT_LIMIT,
        {
            "python": "print('x' * 65536)",
            "cpp": cpp("for (int i = 0; i < 65537; i++) putchar('x');", "cstdio"),
        },
    ),
)

CASES = tuple(case for scenario in SCENARIOS for case in scenario.cases())
