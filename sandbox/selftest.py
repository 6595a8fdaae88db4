"""One small program per language and status, run in the real sandbox: what `make doctor` tries an engine with."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from sandbox.catalogue import Runtime, catalogue
from sandbox.errors import SandboxError
from sandbox.evaluator import Cancellation, Evaluator
from sandbox.job import Job, Limits, Program

# Small enough that a round over all languages takes less than a minute.
LIMITS = Limits(wall_time_ms=4_000, cpu_time_ms=1_500, compile_time_ms=6_000, memory_mb=96, output_bytes=64 << 10)


@dataclass(frozen=True, slots=True)
class SelfTest:
    """``expected`` and ``got`` name a status, with the limit where there is one (``TIMEOUT wallTime``)."""

    language: str
    expected: str
    got: str

    @property
    def name(self) -> str:
        return f"{self.language}: {self.expected}"

    @property
    def ok(self) -> bool:
        return self.expected == self.got


def run(evaluator: Evaluator) -> Iterator[SelfTest]:
    """Run the self-tests of every runtime that ``evaluator`` offers, one after the other."""
    for language in evaluator.runtimes():
        for expected, source in programs(catalogue()[language]).items():
            yield SelfTest(language, expected, _outcome(evaluator, language, source))


def programs(runtime: Runtime) -> dict[str, str]:
    """Expected outcome → program, from the runtime's ``selftest.toml``."""
    table: dict[str, str] = tomllib.loads((runtime.folder / "selftest.toml").read_text())
    return table


def _outcome(evaluator: Evaluator, language: str, source: str) -> str:
    try:
        result = evaluator.evaluate(Job(Program(language, source), stdin=b"4\n", limits=LIMITS), Cancellation())
    except SandboxError as error:
        return f"{error.code}: {error}"
    if result.verdict == "SUCCEEDED" and result.stdout.content.strip() != b"24":
        return f"SUCCEEDED with {result.stdout.content[:40]!r}"
    return f"{result.verdict} {result.limit_exceeded}" if result.limit_exceeded else str(result.verdict)
