"""The conversation with one sandbox: stage a program, compile it, run cells, and turn reports into results."""

import math
import signal as signals
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sandbox.catalogue import Runtime
from sandbox.compile_cache import Artefact, Compiled
from sandbox.docker import Sandbox
from sandbox.errors import ProtocolViolated, SandboxError, SandboxLost
from sandbox.job import Limits
from sandbox.protocol import CellOrder, CellReport, FrameType, StoppedFor
from sandbox.result import Compilation, RunResult, Stream, Usage
from sandbox.verdict import Evidence, Limit, Phase, decide

# How long the worker waits beyond the limit that the supervisor keeps: for the making of a cell, for the end of one, on
# a machine that is busy with others.
GRACE_S = 20
STAGE_S = 30
COMPILER_OUTPUT_BYTES = 256 << 10
COMPILER_PROCESSES = 128
COMPILER_DISK_KB = 64 << 10
# The compile limit is CPU time, so that a verdict does not depend on what else the machine does; a compiler that
# waits for something is ended by this many times as much wall time.
COMPILE_WALL_FACTOR = 2
ORDERS_AHEAD = 2  # cells that the supervisor knows of
PIPE_BYTES = 64 << 10
CELL_CPU_MS = 50  # what the making of a cell costs, which is not the program's
STACK_KB = 8 << 10
LOOK_S = 0.02  # the least time between two looks at the CPU time
EXPORT_BYTES = 16 << 20  # all artefacts of a program together
EXPORT_FILES = 65_536


@dataclass(frozen=True, slots=True)
class Run:
    """What a cell is to run."""

    argv: Sequence[str]
    stdin: bytes
    limits: Limits


@dataclass(frozen=True, slots=True)
class _Mark:
    """The host's counters of a sandbox just before a cell began. ``at``: by `time.monotonic`."""

    at: float
    cpu_ms: int
    memory_refusals: int

    @classmethod
    def of(cls, sandbox: Sandbox) -> "_Mark":
        return cls(time.monotonic(), sandbox.cpu_ms(), sandbox.memory_refusals())


@dataclass(frozen=True, slots=True)
class _Ordered:
    """A cell that the supervisor has been told to run. ``size``: bytes of the order on the wire."""

    number: int  # as the supervisor counts its cells, from 1
    order: CellOrder
    size: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell that has ended. ``check``: what the language's start-up said about the syntax, see supervisor/cell.h."""

    result: RunResult
    check: str

    @property
    def is_syntax_error(self) -> bool:
        return self.check == "failed"


@dataclass(slots=True)
class _Capture:
    """One stream as it comes in: never more than the limit, whatever the sandbox sends."""

    limit: int
    content: bytearray = field(default_factory=bytearray)

    def add(self, data: bytes) -> None:
        self.content += data
        if len(self.content) > self.limit:
            raise ProtocolViolated("more output than the limit allows")

    def close(self, total: int | None) -> Stream:
        """``total`` is what the supervisor counted, None when it did not live to tell."""
        seen = len(self.content)
        if total is not None and (total < seen or (total > seen and seen < self.limit)):
            raise ProtocolViolated(f"{total} bytes were written, {seen} came")
        return Stream(bytes(self.content), seen if total is None else total)


class Session:
    """Talks with the supervisor of one sandbox. Not thread-safe. Everything here raises `SandboxError` when we fail."""

    def __init__(self, sandbox: Sandbox, runtime: Runtime) -> None:
        self._sandbox = sandbox
        self._runtime = runtime
        self.is_well = True  # the sandbox lives, and nothing of a cell is left in it
        # The next cell to be awaited began after this. It is made when a cell ends and not when the next is awaited: a
        # cell that was ordered ahead runs, and may end its sandbox, while our caller still looks at the last.
        self._mark: _Mark | None = None

    def stage(self, artefacts: Iterable[Artefact]) -> None:
        """Put these files, and nothing else, into the staging directory."""
        deadline = time.monotonic() + STAGE_S
        self._sandbox.send(FrameType.RESET, deadline=deadline)
        for artefact in artefacts:
            head = f"{artefact.path}\0{artefact.mode:o}\0".encode()
            self._sandbox.send(FrameType.FILE, head, artefact.content, deadline=deadline)

    def compile(self, argv: Sequence[str], limits: Limits) -> Compiled:
        """Compile what is staged. What the compiler makes is staged then as well, see `export`."""
        step = self._runtime.compile
        assert step is not None
        limit = limits.compile_time_ms
        order = CellOrder(
            compile=True,
            check=False,
            uid=self._sandbox.next_uid(),
            wall_ms=limit * COMPILE_WALL_FACTOR,
            cpu_ms=limit,
            memory_kb=compile_memory_mb(self._runtime, limits) << 10,
            processes=COMPILER_PROCESSES,
            output_bytes=COMPILER_OUTPUT_BYTES,
            disk_kb=COMPILER_DISK_KB,
            stack_kb=64 << 10,
            argv=argv,
            environment=step.environment,
        )
        cell = self._await_cell(self._order(order), Phase.COMPILE)
        result = cell.result
        compilation = Compilation(result.exit_code, result.stdout, result.stderr, result.usage.wall_time_ms or 0)
        usage = result.usage
        return Compiled(
            result.verdict, result.limit_exceeded, compilation, usage.cpu_time_ms or 0, usage.memory_peak_kb or 0
        )

    def export(self) -> tuple[Artefact, ...] | None:
        """All staged files; None when they are too many, or not such that they could be staged again elsewhere."""
        deadline = time.monotonic() + STAGE_S
        self._sandbox.send(FrameType.EXPORT, deadline=deadline)
        artefacts: list[Artefact] = []
        size = 0
        try:
            while (frame := self._sandbox.receive(deadline))[0] is FrameType.ARTEFACT:
                artefacts.append(_artefact(frame[1]))
                size += len(artefacts[-1].content)
                if size > EXPORT_BYTES or len(artefacts) > EXPORT_FILES:
                    raise ProtocolViolated("more artefacts than there may be")
        except TimeoutError as error:
            raise SandboxLost("the artefacts did not come") from error
        kind, payload = frame
        if kind is not FrameType.EXPORTED:
            raise _unexpected(kind, payload, "after artefacts")
        return tuple(artefacts) if payload == b"complete" else None

    def run(self, runs: Iterable[Run], *, ahead: bool = False) -> Iterator[Cell]:
        """Run the staged program once for each of ``runs``, each in a cell of its own; gives what came of it in turn.

        ``ahead``: the order for the next cell is sent before the report of the last has come, so that the sandbox does
        not wait for us. Ends early when the sandbox is not well any more: what is missing has not been run.
        """
        waiting = deque[_Ordered]()
        left = iter(runs)
        following = next(left, None)
        while waiting or following is not None:
            while following is not None and (not waiting or (ahead and _fits_ahead(waiting, following))):
                waiting.append(self._order_run(following))
                following = next(left, None)
            ordered = waiting.popleft()
            yield self._await_cell(ordered, Phase.RUN, ahead=bool(waiting))
            if not self.is_well:
                return

    def _order_run(self, run: Run) -> _Ordered:
        limits = run.limits
        memory_kb = (limits.memory_mb + self._runtime.memory_overhead_mb) << 10
        order = CellOrder(
            compile=False,
            check=self._runtime.checks_syntax,
            uid=self._sandbox.next_uid(),
            wall_ms=limits.wall_time_ms,
            cpu_ms=limits.cpu_time_ms,
            memory_kb=memory_kb,
            processes=limits.processes,
            output_bytes=limits.output_bytes,
            disk_kb=limits.disk_mb << 10,
            stack_kb=_stack_kb(memory_kb) if self._runtime.stack_is_memory else STACK_KB,
            argv=run.argv,
            environment=self._runtime.run.environment,
        )
        if run.stdin:
            self._sandbox.send(FrameType.STDIN, run.stdin, deadline=time.monotonic() + STAGE_S)
        return self._order(order)

    def _order(self, order: CellOrder) -> _Ordered:
        encoded = order.encode()
        if self._mark is None:
            self._mark = _Mark.of(self._sandbox)
        self._sandbox.send(FrameType.CELL, encoded, deadline=time.monotonic() + STAGE_S)
        return _Ordered(self._sandbox.next_cell(), order, len(encoded))

    def _await_cell(self, ordered: _Ordered, phase: Phase, *, ahead: bool = False) -> Cell:
        """The end of a cell, whichever way that comes: its report, the end of the sandbox, or our clock.

        ``ahead``: another one has been ordered, and begins as soon as this one has ended.
        """
        order = ordered.order
        assert self._mark is not None
        mark, self._mark = self._mark, None
        cpu = _CpuWatch(self._sandbox, ordered, mark)
        stdout, stderr = _Capture(order.output_bytes), _Capture(order.output_bytes)
        deadline = time.monotonic() + order.wall_ms / 1_000 + GRACE_S
        try:
            while True:
                kind, payload = self._receive(deadline, cpu)
                if kind is FrameType.STDOUT:
                    stdout.add(payload)
                elif kind is FrameType.STDERR:
                    stderr.add(payload)
                elif kind is FrameType.ENDED:
                    report = CellReport.parse(payload)
                    self.is_well = not report.dirty
                    if ahead:
                        self._mark = _Mark.of(self._sandbox)
                    return _ended(self._believed(report, cpu), order, phase, stdout, stderr)
                else:
                    raise _unexpected(kind, payload, "while a cell runs")
        except SandboxLost:
            # The whole sandbox went down. Only the kernel can say whether the program's hunger for memory did it.
            if self._sandbox.memory_refusals() <= mark.memory_refusals:
                raise
            reached = Limit.MEMORY
        except TimeoutError as error:
            # The supervisor did not keep the time. A program that burnt its CPU limit has starved it; else it is ours.
            if cpu.used_ms() < order.cpu_ms:
                raise SandboxLost("no report within the limits") from error
            reached = Limit.COMPILE_TIME if phase is Phase.COMPILE else Limit.CPU_TIME
        self.is_well = False
        decision = decide(Evidence(phase, None, None, frozenset({reached})))
        result = RunResult(
            decision.verdict,
            decision.limit_exceeded,
            stdout=stdout.close(None),
            stderr=stderr.close(None),
            usage=Usage(round((time.monotonic() - mark.at) * 1_000), cpu.used_ms(), None),
        )
        return Cell(result, "none")

    def _believed(self, report: CellReport, cpu: "_CpuWatch") -> CellReport:
        report = cpu.correct(report)
        # Where no runtime reports it, only the program can have left that file.
        return replace(report, heap_exhausted=report.heap_exhausted and self._runtime.reports_heap)

    def _receive(self, deadline: float, cpu: "_CpuWatch") -> tuple[FrameType, bytes]:
        """The next frame, with an eye on the CPU time meanwhile. Raises `TimeoutError` at the deadline."""
        while True:
            try:
                return self._sandbox.receive(min(deadline, cpu.next_look))
            except TimeoutError:
                if time.monotonic() >= deadline:
                    raise
                if cpu.is_used_up():
                    self._sandbox.send(FrameType.STOP, str(cpu.cell).encode(), deadline=deadline)


def _fits_ahead(waiting: Collection[_Ordered], run: Run) -> bool:
    """Whether an order may be sent while cells run. More than the pipe holds would block us, while the supervisor,
    which reads no order until its cell has ended, may wait for us to read its output: both for ever."""
    size = sum(ordered.size for ordered in waiting) + len(run.stdin) + sum(map(len, run.argv)) * 4 + 4_096
    return len(waiting) < ORDERS_AHEAD and size < PIPE_BYTES // 2


def compile_memory_mb(runtime: Runtime, limits: Limits) -> int:
    """What the compile step may use, in MiB; 0 where there is none."""
    return max(runtime.compile_memory_mb, limits.memory_mb) if runtime.compile else 0


class _CpuWatch:
    """The CPU time of one cell by the host's count, which no load and no number of threads makes run faster.

    gVisor's own count takes a task that waits for a core as running. The host's has gVisor's work in it. The program's
    is less than both.
    """

    def __init__(self, sandbox: Sandbox, ordered: _Ordered, mark: _Mark) -> None:
        self.cell = ordered.number
        self._sandbox = sandbox
        self._limit_ms = ordered.order.cpu_ms + CELL_CPU_MS
        self._before_ms = mark.cpu_ms
        # A sandbox has one core: it cannot use up the rest before so much time has passed.
        self.next_look = mark.at + self._limit_ms / 1_000 if sandbox.counts_cpu else math.inf

    def used_ms(self) -> int:
        return self._sandbox.cpu_ms() - self._before_ms

    def is_used_up(self) -> bool:
        """Look once. True once only."""
        left_ms = self._limit_ms - self.used_ms()
        self.next_look = time.monotonic() + max(LOOK_S, left_ms / 1_000) if left_ms >= 0 else math.inf
        return left_ms < 0

    def correct(self, report: CellReport) -> CellReport:
        if not self._sandbox.counts_cpu:
            return report
        return replace(report, cpu_us=min(report.cpu_us, self.used_ms() * 1_000))


_REACHED = {
    StoppedFor.WALL: Limit.WALL_TIME,
    StoppedFor.CPU: Limit.CPU_TIME,
    StoppedFor.MEMORY: Limit.MEMORY,
    StoppedFor.OUTPUT: Limit.OUTPUT,
}


def _ended(report: CellReport, order: CellOrder, phase: Phase, stdout: _Capture, stderr: _Capture) -> Cell:
    """Raises `SandboxLost` for a cell that ended without any reason that we know."""
    reached = _REACHED.get(report.stopped_for)
    if report.exit_code is None and report.signal is None and reached is None:
        raise SandboxLost("a cell ended and nobody knows why")
    if report.cpu_us > order.cpu_ms * 1_000 and reached in (None, Limit.WALL_TIME):
        reached = Limit.CPU_TIME  # it ended, or the clock did, before the next look
    if phase is Phase.COMPILE and reached in (Limit.WALL_TIME, Limit.CPU_TIME):
        reached = Limit.COMPILE_TIME
    if report.check == "failed":
        reached = None  # the program was refused before; what came after is only how its end was told
    decision = decide(
        Evidence(
            phase=Phase.COMPILE if report.check == "failed" else phase,
            exit_code=report.exit_code,
            signal=signal_name(report.signal) if report.signal else None,
            reached=frozenset() if reached is None else frozenset({reached}),
            heap_exhausted=report.heap_exhausted,
        )
    )
    result = RunResult(
        verdict=decision.verdict,
        limit_exceeded=decision.limit_exceeded,
        exit_code=decision.exit_code,
        signal=decision.signal,
        stdout=stdout.close(report.stdout_bytes),
        stderr=stderr.close(report.stderr_bytes),
        usage=Usage(_ms(report.wall_us), _ms(report.cpu_us), report.memory_kb),
    )
    return Cell(result, report.check)


def _unexpected(kind: FrameType, payload: bytes, when: str) -> SandboxError:
    if kind is FrameType.FAILED:
        return SandboxError(f"the supervisor failed: {payload.decode(errors='replace')}")
    return ProtocolViolated(f"a {kind.name} frame {when}")


def _artefact(payload: bytes) -> Artefact:
    try:
        path, mode, content = payload.split(b"\0", 2)
        return Artefact(path.decode(), content, int(mode, 8) & 0o755)
    except ValueError as error:
        raise ProtocolViolated("an artefact that cannot be read") from error


def _stack_kb(memory_kb: int) -> int:
    """As large as the memory, less what keeps the two limits apart: endless recursion ends the same way every time."""
    return max(STACK_KB, memory_kb - STACK_KB)


def _ms(microseconds: int) -> int:
    return (microseconds + 500) // 1_000


def signal_name(number: int) -> str:
    """``SIGSEGV`` for 11; the real-time ones have no name of their own."""
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"SIG{number}"
