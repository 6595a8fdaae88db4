"""What came of a job: the verdict with everything that is needed to score it, byte-exact."""

from dataclasses import dataclass, field, replace

from sandbox.verdict import Limit, Phase, Verdict


@dataclass(frozen=True, slots=True)
class Stream:
    """What a program wrote to one stream. ``content`` is at most the limit; ``total`` counts all that was written."""

    content: bytes = b""
    total: int = 0

    @property
    def truncated(self) -> bool:
        return self.total > len(self.content)


@dataclass(frozen=True, slots=True)
class Compilation:
    """What the compiler said. ``exit_code`` is None when a limit or a signal ended it."""

    exit_code: int | None
    stdout: Stream
    stderr: Stream
    time_ms: int
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Measured from the program's first instruction on; the start of the sandbox counts only in ``start_ms``.

    Milliseconds and KiB. The first three are None when the program never ran (it did not compile).
    """

    wall_time_ms: int | None = None
    cpu_time_ms: int | None = None
    memory_peak_kb: int | None = None
    start_ms: int = 0
    compile_time_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RuntimeStamp:
    """What the program ran on, for the record. ``image`` is a digest (``sha256:…``)."""

    version: str
    image: str
    sandbox: str
    sandbox_version: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """What came of one run: of the program itself, or of one test."""

    verdict: Verdict
    limit_exceeded: Limit | None = None
    exit_code: int | None = None
    signal: str | None = None
    stdout: Stream = field(default_factory=Stream)
    stderr: Stream = field(default_factory=Stream)
    usage: Usage = field(default_factory=Usage)

    def cut(self, room: int) -> "RunResult":
        """The same with at most ``room`` bytes of output, both streams together."""
        stdout = Stream(self.stdout.content[:room], self.stdout.total)
        stderr = Stream(self.stderr.content[: room - len(stdout.content)], self.stderr.total)
        return replace(self, stdout=stdout, stderr=stderr)


@dataclass(frozen=True, slots=True)
class Result:
    """``tests`` has the tests that were run, in their order: fewer than asked for after a failure to compile, or when
    the judge had seen enough. With tests, the verdict is that of the first that did not succeed, and the streams are
    empty but for a syntax error's."""

    verdict: Verdict
    phase: Phase
    limit_exceeded: Limit | None
    exit_code: int | None
    signal: str | None
    runtime: RuntimeStamp
    stdout: Stream = field(default_factory=Stream)
    stderr: Stream = field(default_factory=Stream)
    compilation: Compilation | None = None
    usage: Usage = field(default_factory=Usage)
    tests: tuple[RunResult, ...] = ()
    was_crowded: bool = False  # the machine had no core to spare meanwhile
