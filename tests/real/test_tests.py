"""Several tests of one program: one compile, a cell for each test, and what one costs is its own."""

import textwrap
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

import pytest

from sandbox import session as sessions
from sandbox.docker import Sandbox
from sandbox.docker_evaluator import DockerEvaluator
from sandbox.evaluator import KEPT_OUTPUT_BYTES, Cancellation, Judge
from sandbox.job import File, Isolation, Job, Limits, Program
from sandbox.job import Test as OneTest  # pytest takes names that begin with Test for its own
from sandbox.result import Result, RunResult, Stream
from sandbox.session import Session
from sandbox.verdict import Limit, Phase, Verdict
from tests.real.programs import cpp, java

pytestmark = pytest.mark.real

LIMITS = Limits(wall_time_ms=30_000, cpu_time_ms=10_000, memory_mb=64, processes=32, output_bytes=64 << 10, disk_mb=16)

# Brings the whole sandbox down: memory that only the wall around the container sees.
BOMB = "kept = []\nwhile True: kept.append(os.memfd_create('kept')); os.write(kept[-1], b'x' * (8 << 20))"
CPP_BOMB = """
    for (;;) {
        int kept = memfd_create("kept", 0);
        std::string block(8 << 20, 'x');
        write(kept, block.data(), block.size());
    }
"""


class Counts:
    """How often a sandbox was leased, which was the last, and how often something was compiled."""

    def __init__(self) -> None:
        self.sandboxes = 0
        self.compiled = 0
        self.last: Sandbox | None = None


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    counts = Counts()
    claim_for, compile_ = Sandbox.claim_for, Session.compile

    def claimed(self: Sandbox, account: str) -> None:
        counts.sandboxes += 1
        counts.last = self
        claim_for(self, account)

    def compiled(self: Session, *args: object) -> object:
        counts.compiled += 1
        return compile_(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Sandbox, "claim_for", claimed)
    monkeypatch.setattr(Session, "compile", compiled)
    return counts


@pytest.fixture
def account() -> str:
    return f"account-{uuid.uuid4().hex}"


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


class Bench:
    def __init__(self, evaluator: DockerEvaluator, account: str) -> None:
        self.evaluator = evaluator
        self.account = account

    def __call__(
        self,
        language: str,
        source: str,
        *tests: bytes | OneTest,
        limits: Limits = LIMITS,
        judge: Judge | None = None,
        stops_early: bool = False,
        account: str = "",
        files: tuple[File, ...] = (),
        options: dict[str, str] | None = None,
    ) -> Result:
        job = Job(
            Program(language, source, files, options or {}),
            limits=limits,
            account=account or self.account,
            isolation=Isolation.EXECUTION,
            tests=tuple(test if isinstance(test, OneTest) else OneTest(test) for test in tests),
            stops_early=stops_early,
        )
        return self.evaluator.evaluate(job, Cancellation(), judge)


@pytest.fixture
def bench(evaluator: DockerEvaluator, account: str, counts: Counts) -> Bench:
    """``bench(language, source, *tests, …)``: the result of a program with its tests, for an account of its own."""
    return Bench(evaluator, account)


def python(**on: str) -> str:
    """A program that reads a word and does what is named for it; any other it prints."""
    program = "import os, sys, time\nword = input()\n"
    for word, act in on.items():
        program += f"if word == {word!r}:\n" + textwrap.indent(act, "    ") + "\n"
    return program + "print(word)"


ECHO = {
    "python": python(),
    "javascript": "process.stdout.write(require('fs').readFileSync(0))",
    "java": java("System.out.print(new String(System.in.readAllBytes()));"),
    "cpp": cpp("std::cout << std::cin.rdbuf();", "iostream"),
}


@pytest.mark.parametrize("language", ECHO)
def test_every_test_has_its_own_input_and_output_and_the_program_is_compiled_once(
    bench: Bench, counts: Counts, language: str
) -> None:
    inputs = [b"%d\n" % number for number in range(12)]
    result = bench(language, ECHO[language], *inputs)
    assert (result.verdict, result.phase) == (Verdict.SUCCEEDED, Phase.RUN)
    assert [test.stdout.content for test in result.tests] == inputs
    assert (result.stdout, result.stderr) == (Stream(), Stream())
    assert counts.sandboxes == 1
    assert counts.compiled == (1 if language in ("cpp", "java") else 0)


def test_every_test_has_its_own_arguments(bench: Bench) -> None:
    source = "import sys; print(sys.argv[1:])"
    result = bench("python", source, OneTest(args=("a", "")), OneTest(), OneTest(args=("€", "--help")))
    assert [test.stdout.content.decode() for test in result.tests] == ["['a', '']\n", "[]\n", "['€', '--help']\n"]


def test_every_failure_is_that_of_its_own_test_and_the_first_is_the_programs(bench: Bench) -> None:
    source = python(
        fails="sys.exit(3)", crashes="os.abort()", burns="while True: pass", sleeps="time.sleep(60)",
        eats="kept = []\nwhile True: kept.append(b'x' * 100_000)", prints="while True: print('x' * 1000)",
    )  # fmt: skip
    quick = replace(LIMITS, wall_time_ms=1_500)
    tests: list[bytes | OneTest] = [
        b"a\n",
        b"fails\n",
        b"b\n",
        b"crashes\n",
        OneTest(b"burns\n", limits=replace(LIMITS, cpu_time_ms=300)),
    ]
    tests += [OneTest(b"sleeps\n", limits=quick), b"eats\n", b"prints\n", b"c\n"]
    result = bench("python", source, *tests)
    assert [(test.verdict, test.limit_exceeded) for test in result.tests] == [
        (Verdict.SUCCEEDED, None),
        (Verdict.RUNTIME_ERROR, None),
        (Verdict.SUCCEEDED, None),
        (Verdict.RUNTIME_ERROR, None),
        (Verdict.TIMEOUT, Limit.CPU_TIME),
        (Verdict.TIMEOUT, Limit.WALL_TIME),
        (Verdict.MEMORY_LIMIT, Limit.MEMORY),
        (Verdict.OUTPUT_LIMIT, Limit.OUTPUT),
        (Verdict.SUCCEEDED, None),
    ]
    assert (result.verdict, result.exit_code) == (Verdict.RUNTIME_ERROR, 3)
    assert [result.tests[n].stdout.content for n in (0, 2, 8)] == [b"a\n", b"b\n", b"c\n"]


def test_limits_of_a_test_may_be_wider_than_the_programs(bench: Bench) -> None:
    source = python(
        large="kept = b'x' * (300 << 20)", long="end = time.process_time() + 1\nwhile time.process_time() < end: pass"
    )
    narrow = replace(LIMITS, cpu_time_ms=500)
    wide = replace(LIMITS, memory_mb=512, cpu_time_ms=8_000)
    tests = (b"large\n", OneTest(b"large\n", limits=wide), b"long\n", OneTest(b"long\n", limits=wide))
    result = bench("python", source, *tests, limits=narrow)
    assert [test.verdict for test in result.tests] == [
        Verdict.MEMORY_LIMIT, Verdict.SUCCEEDED, Verdict.TIMEOUT, Verdict.SUCCEEDED,
    ]  # fmt: skip


# --- The end of a whole sandbox ---------------------------------------------------------------------------------------


def test_a_test_that_brings_the_sandbox_down_costs_only_itself(bench: Bench, counts: Counts) -> None:
    inputs = [b"a\n", b"b\n", b"bomb\n", b"c\n", b"bomb\n", b"d\n"]
    result = bench("python", python(bomb=BOMB), *inputs)
    assert [test.verdict is Verdict.MEMORY_LIMIT for test in result.tests] == [word == b"bomb\n" for word in inputs]
    assert [test.stdout.content for test in result.tests] == [b"a\n", b"b\n", b"", b"c\n", b"", b"d\n"]
    assert (result.verdict, result.limit_exceeded) == (Verdict.MEMORY_LIMIT, Limit.MEMORY)
    assert counts.sandboxes == 3


def test_the_compiled_program_is_carried_over_to_the_next_sandbox(bench: Bench, counts: Counts) -> None:
    source = cpp(
        'std::string word; std::cin >> word; if (word == "bomb") ' + CPP_BOMB + " std::cout << word;",
        "iostream",
        "string",
        "sys/mman.h",
        "unistd.h",
    )
    result = bench("cpp", source, b"a\n", b"bomb\n", b"b\n", b"bomb\n", b"c\n")
    assert [test.stdout.content for test in result.tests] == [b"a", b"", b"b", b"", b"c"]
    assert [test.verdict for test in result.tests][1::2] == [Verdict.MEMORY_LIMIT] * 2
    assert counts.sandboxes == 3
    assert counts.compiled == 1


def test_what_was_written_before_the_sandbox_came_down_is_kept(bench: Bench) -> None:
    source = python(bomb="os.write(1, b'before'); os.write(2, b'trace'); time.sleep(1)\n" + BOMB)
    _, brought_down, after = bench("python", source, b"a\n", b"bomb\n", b"b\n").tests
    assert (brought_down.stdout.content, brought_down.stderr.content) == (b"before", b"trace")
    assert after.stdout.content == b"b\n"


def test_a_sandbox_that_comes_down_in_the_last_test_needs_no_other(bench: Bench, counts: Counts) -> None:
    result = bench("python", python(bomb=BOMB), b"a\n", b"bomb\n")
    assert [test.verdict for test in result.tests] == [Verdict.SUCCEEDED, Verdict.MEMORY_LIMIT]
    assert counts.sandboxes == 1


# --- The judge --------------------------------------------------------------------------------------------------------


def test_the_judge_sees_every_test_in_turn_and_may_end_it(bench: Bench) -> None:
    seen: list[tuple[int, bytes]] = []

    def judge(number: int, test: RunResult) -> bool:
        seen.append((number, test.stdout.content))
        return number < 2

    result = bench("python", python(), *[b"%d\n" % n for n in range(6)], judge=judge, stops_early=True)
    assert seen == [(0, b"0\n"), (1, b"1\n"), (2, b"2\n")]
    assert len(result.tests) == 3
    assert result.verdict is Verdict.SUCCEEDED


def test_a_judge_that_has_seen_enough_ends_it_also_with_orders_on_their_way(bench: Bench) -> None:
    result = bench("python", python(), *[b"%d\n" % n for n in range(6)], judge=lambda number, _: number < 2)
    assert len(result.tests) == 3
    assert bench("python", python(), b"a\n").tests[0].stdout.content == b"a\n"


def test_what_is_not_to_be_run_is_not_run_when_the_judge_may_stop(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    ordered: list[bytes] = []
    order_run = Session._order_run

    def watched(self: Session, run: sessions.Run) -> sessions._Ordered:
        ordered.append(run.stdin)
        return order_run(self, run)

    monkeypatch.setattr(Session, "_order_run", watched)
    bench("python", python(), b"a\n", b"b\n", b"c\n", judge=lambda *_: False, stops_early=True)
    assert ordered == [b"a\n"]


def test_the_judge_sees_all_of_the_output_and_the_result_keeps_what_it_may(bench: Bench) -> None:
    each, tests = 3 << 20, 4
    seen: list[int] = []

    def judge(number: int, test: RunResult) -> bool:
        seen.append(len(test.stdout.content))
        return True

    source = f"import sys; sys.stdout.write('x' * {each}); sys.stderr.write('y')"
    result = bench("python", source, *[b""] * tests, judge=judge, limits=replace(LIMITS, output_bytes=4 << 20))
    assert seen == [each] * tests
    kept = [len(test.stdout.content) for test in result.tests]
    assert kept == [each, each, KEPT_OUTPUT_BYTES - 2 * (each + 1), 0]
    assert sum(len(test.stdout.content) + len(test.stderr.content) for test in result.tests) == KEPT_OUTPUT_BYTES
    assert [test.stdout.total for test in result.tests] == [each] * tests
    assert [test.stdout.truncated for test in result.tests] == [False, False, True, True]
    assert [test.verdict for test in result.tests] == [Verdict.SUCCEEDED] * tests


# --- Orders ahead -----------------------------------------------------------------------------------------------------


def test_outputs_of_neighbours_do_not_mix(bench: Bench) -> None:
    source = "import sys; n = input(); [print(n) for _ in range(3000)]; print(n, file=sys.stderr); sys.exit(int(n) % 3)"
    result = bench("python", source, *[b"%d\n" % n for n in range(30)])
    for n, test in enumerate(result.tests):
        assert test.stdout.content == b"%d\n" % n * 3_000
        assert test.stderr.content == b"%d\n" % n
        assert test.exit_code == n % 3


def test_inputs_that_are_larger_than_a_pipe_come_through_with_large_outputs(bench: Bench) -> None:
    inputs = [bytes([65 + n]) * (700_000 + n) for n in range(6)]
    source = "import sys; sys.stdout.write(sys.stdin.read())"
    result = bench("python", source, *inputs, limits=replace(LIMITS, output_bytes=1 << 20))
    assert [test.stdout.content for test in result.tests] == inputs


def test_cpu_time_is_charged_to_the_test_that_used_it(bench: Bench) -> None:
    source = python(burn="end = time.process_time() + 1\nwhile time.process_time() < end: pass")
    result = bench("python", source, *[b"burn\n", b"rest\n"] * 3)
    burnt, rested = [[test.usage.cpu_time_ms or 0 for test in result.tests[start::2]] for start in (0, 1)]
    assert min(burnt) >= 950
    assert max(rested) < 700


@pytest.mark.parametrize("act", ["burns", "works"])
def test_a_judge_that_takes_its_time_does_not_hide_what_the_next_test_uses(
    bench: Bench, counts: Counts, act: str
) -> None:
    # The next test runs while the judge looks at the last. Its CPU time was once counted from when the judge was done.
    source = python(
        burns="while True: pass", works="end = time.process_time() + 0.8\nwhile time.process_time() < end: pass"
    )

    def judge(number: int, test: RunResult) -> bool:
        sandbox = counts.last
        assert sandbox is not None
        if number == 0:
            enough_ms = sandbox.cpu_ms() + 700
            wait_until(lambda: sandbox.cpu_ms() > enough_ms)
        return True

    limits = replace(LIMITS, wall_time_ms=3_000, cpu_time_ms=1_500)
    _, test, after = bench("python", source, b"a\n", act.encode() + b"\n", b"b\n", judge=judge, limits=limits).tests
    expected = (Verdict.TIMEOUT, Limit.CPU_TIME) if act == "burns" else (Verdict.SUCCEEDED, None)
    assert (test.verdict, test.limit_exceeded) == expected
    assert test.usage.cpu_time_ms is not None
    assert test.usage.cpu_time_ms >= 750
    assert after.stdout.content == b"b\n"


def test_a_sandbox_that_comes_down_while_the_judge_takes_its_time_is_told_from_a_failure_of_ours(
    bench: Bench, counts: Counts
) -> None:

    def judge(number: int, test: RunResult) -> bool:
        sandbox = counts.last
        assert sandbox is not None
        group = sandbox.cgroup
        assert group is not None
        if number == 0:
            wait_until(lambda: not group.processes())
        return True

    tests = bench("python", python(bomb=BOMB), b"a\n", b"bomb\n", b"b\n", judge=judge).tests
    assert [test.verdict for test in tests] == [Verdict.SUCCEEDED, Verdict.MEMORY_LIMIT, Verdict.SUCCEEDED]


# --- Programs that do not compile -------------------------------------------------------------------------------------

BROKEN = {
    "python": "def f(:\n    pass",
    "javascript": "let x = ;",
    "java": java("int x = ;"),
    "cpp": cpp("return x;"),
}


@pytest.mark.parametrize("language", BROKEN)
def test_a_program_that_does_not_compile_has_no_tests(bench: Bench, language: str) -> None:
    judged: list[int] = []

    def judge(number: int, test: RunResult) -> bool:
        judged.append(number)
        return True

    result = bench(language, BROKEN[language], b"1\n", b"2\n", b"3\n", judge=judge)
    assert (result.verdict, result.phase) == (Verdict.COMPILE_ERROR, Phase.COMPILE)
    assert result.tests == ()
    assert judged == []
    if language in ("java", "cpp"):
        assert result.compilation is not None
        assert b"error" in result.compilation.stdout.content + result.compilation.stderr.content
    else:
        assert b"SyntaxError" in result.stderr.content


# --- The compile cache ------------------------------------------------------------------------------------------------

SQUARE = {"cpp": cpp("int n; std::cin >> n; std::cout << n * n;", "iostream"),
          "java": java("int n = new java.util.Scanner(System.in).nextInt(); System.out.print(n * n);")}  # fmt: skip


@pytest.mark.parametrize("language", SQUARE)
def test_the_same_program_of_the_same_account_is_compiled_once(bench: Bench, counts: Counts, language: str) -> None:
    first, second = bench(language, SQUARE[language], b"3\n"), bench(language, SQUARE[language], b"4\n", b"5\n")
    assert [result.compilation and result.compilation.cached for result in (first, second)] == [False, True]
    assert [test.stdout.content for test in (*first.tests, *second.tests)] == [b"9", b"16", b"25"]
    assert counts.compiled == 1
    assert first.usage.compile_time_ms
    assert second.usage.compile_time_ms == 0


def test_another_account_compiles_for_itself(bench: Bench, counts: Counts) -> None:
    bench("cpp", SQUARE["cpp"], b"3\n")
    other = bench("cpp", SQUARE["cpp"], b"3\n", account=f"other-{uuid.uuid4().hex}")
    assert other.compilation is not None
    assert not other.compilation.cached
    assert counts.compiled == 2


@pytest.mark.parametrize("language", ["cpp", "java"])
def test_a_compile_error_from_the_cache_is_the_same_error(bench: Bench, counts: Counts, language: str) -> None:
    first, second = (bench(language, BROKEN[language], b"1\n") for _ in range(2))
    assert counts.compiled == 1
    assert first.compilation is not None
    assert second.compilation == replace(first.compilation, cached=True, time_ms=0)
    assert (second.verdict, second.phase, second.tests) == (first.verdict, first.phase, ())
    assert counts.sandboxes == 1, "what is known not to compile needs no sandbox"


def test_whatever_the_compiler_sees_makes_another_program(bench: Bench, counts: Counts) -> None:
    source = '#include "n.h"\n#include <cstdio>\nint main() { printf("%d %ld", N, __cplusplus); }'
    seen = []
    for n, standard in ((b"1", "c++20"), (b"2", "c++20"), (b"2", "c++17"), (b"1", "c++20")):
        files = (File("n.h", b"#define N " + n),)
        seen.append(bench("cpp", source, b"", files=files, options={"standard": standard}))
    assert [result.tests[0].stdout.content for result in seen] == [b"1 202002", b"2 202002", b"2 201703", b"1 202002"]
    assert [result.compilation and result.compilation.cached for result in seen] == [False, False, False, True]
    changed = bench("cpp", source + "\n", b"", files=(File("n.h", b"#define N 1"),), options={"standard": "c++20"})
    assert changed.compilation is not None
    assert not changed.compilation.cached
    assert counts.compiled == 4


def test_a_compile_that_ran_into_a_limit_is_tried_again(bench: Bench, counts: Counts) -> None:
    bomb = "#define D(x) x x\nint main() { " + "D(" * 30 + "1;" + ")" * 30 + " }"
    for _ in range(2):
        result = bench("cpp", bomb, b"")
        assert (result.verdict, result.phase) == (Verdict.MEMORY_LIMIT, Phase.COMPILE)
    assert counts.compiled == 2


def test_a_program_too_large_to_be_carried_is_compiled_in_each_sandbox(bench: Bench, counts: Counts) -> None:
    source = "char large[20 << 20] = {1};\n" + cpp(
        'std::string word; std::cin >> word; if (word == "bomb") ' + CPP_BOMB + " std::cout << word << int(large[0]);",
        "iostream",
        "string",
        "sys/mman.h",
        "unistd.h",
    )
    result = bench("cpp", source, b"a\n", b"bomb\n", b"b\n")
    assert [test.stdout.content for test in result.tests] == [b"a1", b"", b"b1"]
    assert counts.compiled == 2
    again = bench("cpp", source, b"c\n")
    assert again.compilation is not None
    assert not again.compilation.cached


def test_two_hundred_tests_are_all_told_and_their_times_add_up(bench: Bench) -> None:
    started = time.monotonic()
    result = bench("python", python(), *[b"%d\n" % n for n in range(200)])
    took_ms = (time.monotonic() - started) * 1_000
    assert [test.stdout.content for test in result.tests] == [b"%d\n" % n for n in range(200)]
    walls = [test.usage.wall_time_ms or 0 for test in result.tests]
    assert result.usage.wall_time_ms == sum(walls) <= took_ms
    assert result.usage.memory_peak_kb == max(test.usage.memory_peak_kb or 0 for test in result.tests)
