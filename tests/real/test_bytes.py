"""What goes in and what comes out is exact to the byte, in every language, however the program ends."""

import random

import pytest

from sandbox.result import Result, Stream
from sandbox.verdict import Limit, Verdict
from tests.real.conftest import Run
from tests.real.programs import cpp, java

pytestmark = pytest.mark.real

MIB = 1 << 20
EVERY_BYTE = bytes(range(256)) * 3 + b"\xff"

ECHO = {
    "python": "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())",
    "javascript": "process.stdin.pipe(process.stdout)",
    "java": java("System.in.transferTo(System.out); System.out.flush();"),
    "cpp": cpp("for (int c; (c = getchar()) != EOF;) putchar(c);", "cstdio"),
}

# The argument says how many bytes go out, in one system call where the language can.
ONE_WRITE = {
    "python": "import os, sys; os.write(1, b'x' * int(sys.argv[1]))",
    "javascript": "require('fs').writeSync(1, Buffer.alloc(Number(process.argv[2]), 'x'))",
    "java": java(
        "var all = new byte[Integer.parseInt(args[0])]; java.util.Arrays.fill(all, (byte) 'x');\n"
        "    new java.io.FileOutputStream(java.io.FileDescriptor.out).write(all);"
    ).replace("(String[] args)", "(String... args)"),
    "cpp": "#include <string>\n#include <unistd.h>\nint main(int, char **args) {\n"
    "  std::string all(std::stoi(args[1]), 'x'); return write(1, all.data(), all.size()) != (long)all.size();\n}",
}

MANY_WRITES = {
    "python": "import os, sys\nleft = int(sys.argv[1])\nwhile left: left -= os.write(1, b'x' * min(left, 100))",
    "javascript": "let left = Number(process.argv[2]);\n"
    "while (left) left -= require('fs').writeSync(1, 'x'.repeat(Math.min(left, 100)));",
    "java": java(
        "var out = new java.io.FileOutputStream(java.io.FileDescriptor.out);\n"
        "    for (int left = Integer.parseInt(args[0]); left > 0; left -= 100)\n"
        '      out.write("x".repeat(Math.min(left, 100)).getBytes());'
    ),
    "cpp": "#include <string>\n#include <unistd.h>\nint main(int, char **args) {\n"
    "  std::string piece(100, 'x');\n"
    "  for (long left = std::stoi(args[1]); left;) left -= write(1, piece.data(), left < 100 ? left : 100);\n}",
}

every_language = pytest.mark.parametrize("language", ["python", "javascript", "java", "cpp"])


def ended_well(result: Result) -> bool:
    return result.verdict is Verdict.SUCCEEDED and result.exit_code == 0


@every_language
def test_every_byte_value_comes_back_as_it_went_in(run: Run, language: str) -> None:
    result = run(language, ECHO[language], stdin=EVERY_BYTE)
    assert ended_well(result)
    assert result.stdout == Stream(EVERY_BYTE, len(EVERY_BYTE))
    assert result.stderr == Stream()


@pytest.mark.parametrize("content", [b"\0", b"\0\0end", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\r\n\r", b" \n\n "])
def test_nothing_is_decoded_on_the_way(run: Run, content: bytes) -> None:
    assert run("cpp", ECHO["cpp"], stdin=content).stdout == Stream(content, len(content))


@every_language
@pytest.mark.parametrize("programs", [ONE_WRITE, MANY_WRITES], ids=["in one write", "in many writes"])
def test_output_of_exactly_the_limit_is_whole(run: Run, language: str, programs: dict[str, str]) -> None:
    result = run(language, programs[language], args=(str(MIB),), output_bytes=MIB)
    assert ended_well(result)
    assert result.stdout == Stream(b"x" * MIB, MIB)
    assert not result.stdout.truncated


@every_language
@pytest.mark.parametrize("programs", [ONE_WRITE, MANY_WRITES], ids=["in one write", "in many writes"])
def test_one_byte_over_the_limit_is_seen(run: Run, language: str, programs: dict[str, str]) -> None:
    result = run(language, programs[language], args=(str(MIB + 1),), output_bytes=MIB)
    assert (result.verdict, result.limit_exceeded) == (Verdict.OUTPUT_LIMIT, Limit.OUTPUT)
    assert result.stdout == Stream(b"x" * MIB, MIB + 1)
    assert result.stdout.truncated


@pytest.mark.parametrize("descriptor", [1, 2])
def test_a_hundred_megabytes_from_a_program_that_minds_no_error_stop_at_the_limit(run: Run, descriptor: int) -> None:
    program = f"""
import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
for _ in range(100):
    try:
        os.write({descriptor}, b"x" * 1_000_000)
    except OSError:
        pass
"""
    result = run("python", program, output_bytes=MIB)
    assert (result.verdict, result.limit_exceeded) == (Verdict.OUTPUT_LIMIT, Limit.OUTPUT)
    full, empty = (result.stdout, result.stderr) if descriptor == 1 else (result.stderr, result.stdout)
    assert full.content == b"x" * MIB
    assert MIB < full.total <= 100_000_000
    assert empty == Stream()


@pytest.mark.parametrize(
    ("language", "program"),
    [
        ("python", "import time; time.sleep(0.3); print('done', end='')"),
        ("javascript", "setTimeout(() => process.stdout.write('done'), 300)"),
        ("java", java('Thread.sleep(300); System.out.print("done");')),
        ("cpp", cpp('usleep(300000); fputs("done", stdout);', "cstdio", "unistd.h")),
    ],
)
def test_input_that_is_never_read_hinders_nobody(run: Run, language: str, program: str) -> None:
    result = run(language, program, stdin=b"x" * 4 * MIB)
    assert ended_well(result)
    assert result.stdout == Stream(b"done", 4)


def test_input_may_be_closed_half_read(run: Run) -> None:
    result = run("python", "import os; print(os.read(0, 3)); os.close(0); print('on')", stdin=b"abc" * MIB)
    assert ended_well(result)
    assert result.stdout.content == b"b'abc'\non\n"


@every_language
def test_four_mebibytes_go_through_at_once(run: Run, language: str) -> None:
    content = random.Random(4).randbytes(4 * MIB)
    result = run(language, ECHO[language], stdin=content, output_bytes=4 * MIB)
    assert ended_well(result)
    assert result.stdout.total == 4 * MIB
    assert result.stdout.content == content


@pytest.mark.parametrize(
    ("language", "program"),
    [
        ("python", "import os; os.write(1, b'before'); os.close(1); os.write(2, b'after')"),
        (
            "javascript",
            "const fs = require('fs'); fs.writeSync(1, 'before'); fs.closeSync(1); fs.writeSync(2, 'after')",
        ),
        ("java", java('System.out.print("before"); System.out.close(); System.err.print("after");')),
        ("cpp", cpp('fputs("before", stdout); fclose(stdout); fputs("after", stderr);', "cstdio")),
    ],
)
def test_a_program_may_close_its_stdout_and_go_on(run: Run, language: str, program: str) -> None:
    result = run(language, program)
    assert ended_well(result)
    assert (result.stdout.content, result.stderr.content) == (b"before", b"after")


def test_a_program_may_close_all_of_its_streams_and_go_on(run: Run) -> None:
    result = run("python", "import os, time\nfor d in (0, 1, 2): os.close(d)\ntime.sleep(0.3)\nos._exit(7)", stdin=b"x")
    assert (result.verdict, result.exit_code) == (Verdict.RUNTIME_ERROR, 7)


@every_language
def test_nothing_is_added_to_input_or_output(run: Run, language: str) -> None:
    assert run(language, ECHO[language], stdin=b"no final newline").stdout.content == b"no final newline"


@every_language
def test_empty_input_is_at_its_end_at_once(run: Run, language: str) -> None:
    result = run(language, ECHO[language])
    assert ended_well(result)
    assert result.stdout == Stream()


KEPT = "import os, signal, sys, time; os.write(1, b'kept \\xff'); os.write(2, b'kept too'); "


@pytest.mark.parametrize(
    ("program", "verdict", "limits"),
    [
        ("time.sleep(60)", Verdict.TIMEOUT, {"wall_time_ms": 3_000}),
        ("\nwhile True: pass", Verdict.TIMEOUT, {"cpu_time_ms": 1_000}),
        ("os.kill(os.getpid(), signal.SIGKILL)", Verdict.RUNTIME_ERROR, {}),
        ("os.abort()", Verdict.RUNTIME_ERROR, {}),
        ("os._exit(1)", Verdict.RUNTIME_ERROR, {}),
        ("b'x' * (1 << 30)", Verdict.MEMORY_LIMIT, {}),
    ],
)
def test_output_is_kept_however_the_program_ends(
    run: Run, program: str, verdict: Verdict, limits: dict[str, int]
) -> None:
    result = run("python", KEPT + program, **limits)
    assert result.verdict is verdict
    assert (result.stdout.content, result.stderr.content) == (b"kept \xff", b"kept too")


def test_both_streams_may_be_full_at_once(run: Run) -> None:
    program = """
import os, threading
def fill(descriptor, letter):
    for _ in range(256):
        os.write(descriptor, letter * 4096)
threads = [threading.Thread(target=fill, args=pair) for pair in ((1, b"o"), (2, b"e"))]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    result = run("python", program, output_bytes=MIB)
    assert ended_well(result)
    assert result.stdout == Stream(b"o" * MIB, MIB)
    assert result.stderr == Stream(b"e" * MIB, MIB)


def test_arguments_come_through_as_they_are(run: Run) -> None:
    args = ("", " ", "-c", "--help", "ä\n", "'$HOME'", "*")
    result = run("python", "import sys; print(sys.argv[1:])", args=args)
    assert result.stdout.content.decode() == f"{list(args)}\n"
