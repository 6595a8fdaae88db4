"""The conversation with one sandbox: stage the program, compile it, run it, and turn reports into a result."""

import math
import signal as signals
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sandbox.catalogue import Runtime, Step
from sandbox.docker import Sandbox
from sandbox.errors import ProtocolViolated, SandboxError, SandboxLost
from sandbox.job import Job
from sandbox.naming import SourceName, name_source
from sandbox.protocol import CellOrder, CellReport, FrameType, StoppedFor
from sandbox.result import Compilation, Result, RuntimeStamp, Stream, Usage
from sandbox.verdict import Decision, Evidence, Limit, Phase, Verdict, decide

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
FIRST_UID = 60_000
CELL_CPU_MS = 50  # what the making of a cell costs, which is not the program's
STACK_KB = 8 << 10
LOOK_S = 0.02  # the least time between two looks at the CPU time


@dataclass(slots=True)
class _Cell:
    """What came of one cell."""

    decision: Decision
    report: CellReport | None
    stdout: Stream
    stderr: Stream
    check: str = "none"


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
    """One job in one sandbox. Not thread-safe."""

    def __init__(self, sandbox: Sandbox, runtime: Runtime, stamp: RuntimeStamp) -> None:
        self._sandbox = sandbox
        self._runtime = runtime
        self._stamp = stamp
        self._next_uid = FIRST_UID

    def evaluate(self, job: Job, *, start_ms: int) -> Result:
        """Raises `SandboxError` when we failed. ``start_ms``: what was waited for the sandbox, for the record."""
        name = name_source(self._runtime, job.program.source)
        self._stage(job, name)
        compilation = None
        if self._runtime.compile is not None:
            compiled = self._compile(job, name, self._runtime.compile)
            compilation = _compilation(compiled)
            if compiled.decision.verdict is not Verdict.SUCCEEDED:
                return self._result(Phase.COMPILE, compiled, compilation, start_ms)
        ran = self._run(job, name)
        phase = Phase.COMPILE if ran.check in ("failed", "silent") and self._runtime.checks_syntax else Phase.RUN
        return self._result(phase, ran, compilation, start_ms)

    def _stage(self, job: Job, name: SourceName) -> None:
        deadline = time.monotonic() + STAGE_S
        for file in job.program.files:
            self._sandbox.send(FrameType.FILE, file.path.encode(), b"\0", file.content, deadline=deadline)
        source = job.program.source.encode()
        self._sandbox.send(FrameType.FILE, name.file.encode(), b"\0", source, deadline=deadline)

    def _compile(self, job: Job, name: SourceName, step: Step) -> _Cell:
        limit = job.limits.compile_time_ms
        memory_mb = compile_memory_mb(self._runtime, job)
        order = CellOrder(
            compile=True,
            check=False,
            uid=self._uid(),
            wall_ms=limit * COMPILE_WALL_FACTOR,
            cpu_ms=limit,
            memory_kb=memory_mb << 10,
            processes=COMPILER_PROCESSES,
            output_bytes=COMPILER_OUTPUT_BYTES,
            disk_kb=COMPILER_DISK_KB,
            stack_kb=64 << 10,
            argv=fill(step.argv, self._runtime, job, name),
            environment=step.environment,
        )
        return self._cell(order, Phase.COMPILE)

    def _run(self, job: Job, name: SourceName) -> _Cell:
        limits = job.limits
        memory_mb = limits.memory_mb + self._runtime.memory_overhead_mb
        order = CellOrder(
            compile=False,
            check=self._runtime.checks_syntax,
            uid=self._uid(),
            wall_ms=limits.wall_time_ms,
            cpu_ms=limits.cpu_time_ms,
            memory_kb=memory_mb << 10,
            processes=limits.processes,
            output_bytes=limits.output_bytes,
            disk_kb=limits.disk_mb << 10,
            stack_kb=_stack_kb(memory_mb) if self._runtime.stack_is_memory else STACK_KB,
            argv=[*fill(self._runtime.run.argv, self._runtime, job, name), *job.args],
            environment=self._runtime.run.environment,
        )
        if job.stdin:
            self._sandbox.send(FrameType.STDIN, job.stdin, deadline=time.monotonic() + STAGE_S)
        return self._cell(order, Phase.RUN)

    def _uid(self) -> int:
        self._next_uid += 1
        return self._next_uid

    def _cell(self, order: CellOrder, phase: Phase) -> _Cell:
        """Run one cell to its end, whichever way that comes: its report, the end of the sandbox, or our clock."""
        cpu = _CpuWatch(self._sandbox, order.cpu_ms)
        stdout, stderr = _Capture(order.output_bytes), _Capture(order.output_bytes)
        deadline = time.monotonic() + order.wall_ms / 1_000 + GRACE_S
        self._sandbox.send(FrameType.CELL, order.encode(), deadline=deadline)
        try:
            while True:
                kind, payload = self._receive(deadline, cpu)
                if kind is FrameType.STDOUT:
                    stdout.add(payload)
                elif kind is FrameType.STDERR:
                    stderr.add(payload)
                elif kind is FrameType.ENDED:
                    return _ended(self._believed(payload, cpu), order, phase, stdout, stderr)
                elif kind is FrameType.FAILED:
                    raise SandboxError(f"the supervisor failed: {payload.decode(errors='replace')}")
                else:
                    raise ProtocolViolated(f"a {kind.name} frame while a cell runs")
        except SandboxLost:
            # The whole sandbox went down. Only the kernel can say whether the program's hunger for memory did it.
            if not self._sandbox.memory_was_exhausted():
                raise
            reached = Limit.MEMORY
        except TimeoutError as error:
            # The supervisor did not keep the time. A program that burnt its CPU limit has starved it; else it is ours.
            if cpu.used_ms() < order.cpu_ms:
                raise SandboxLost("no report within the limits") from error
            reached = Limit.COMPILE_TIME if phase is Phase.COMPILE else Limit.WALL_TIME
        decision = decide(Evidence(phase, None, None, frozenset({reached})))
        return _Cell(decision, None, stdout.close(None), stderr.close(None))

    def _believed(self, payload: bytes, cpu: "_CpuWatch") -> CellReport:
        report = cpu.correct(CellReport.parse(payload))
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
                    self._sandbox.send(FrameType.STOP, deadline=deadline)

    def _result(self, phase: Phase, cell: _Cell, compilation: Compilation | None, start_ms: int) -> Result:
        ran = phase is Phase.RUN or self._runtime.compile is None
        report = cell.report
        return Result(
            verdict=cell.decision.verdict,
            phase=phase,
            limit_exceeded=cell.decision.limit_exceeded,
            exit_code=cell.decision.exit_code if ran else None,
            signal=cell.decision.signal if ran else None,
            runtime=self._stamp,
            stdout=cell.stdout if ran else Stream(),
            stderr=cell.stderr if ran else Stream(),
            compilation=compilation,
            usage=Usage(
                wall_time_ms=_ms(report.wall_us) if ran and report else None,
                cpu_time_ms=_ms(report.cpu_us) if ran and report else None,
                memory_peak_kb=report.memory_kb if ran and report else None,
                start_ms=start_ms,
                compile_time_ms=compilation.time_ms if compilation else None,
            ),
        )


class _CpuWatch:
    """The CPU time of one cell by the host's count, which no load and no number of threads makes run faster.

    gVisor's own count takes a task that waits for a core as running. The host's has gVisor's work in it. The program's
    is less than both.
    """

    def __init__(self, sandbox: Sandbox, limit_ms: int) -> None:
        self._sandbox = sandbox
        self._limit_ms = limit_ms + CELL_CPU_MS
        self._before_ms = sandbox.cpu_ms()
        # A sandbox has one core: it cannot use up the rest before so much time has passed.
        self.next_look = time.monotonic() + self._limit_ms / 1_000 if sandbox.counts_cpu else math.inf

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


def _ended(report: CellReport, order: CellOrder, phase: Phase, stdout: _Capture, stderr: _Capture) -> _Cell:
    """Raises `SandboxLost` for a cell that ended without any reason that we know, or that could not be cleared away."""
    reached = _REACHED.get(report.stopped_for)
    if report.exit_code is None and report.signal is None and reached is None:
        raise SandboxLost("a cell ended and nobody knows why")
    if report.cpu_us > order.cpu_ms * 1_000 and reached in (None, Limit.WALL_TIME):
        reached = Limit.CPU_TIME  # it ended, or the clock did, before the next look
    if phase is Phase.COMPILE and reached in (Limit.WALL_TIME, Limit.CPU_TIME):
        reached = Limit.COMPILE_TIME
    evidence = Evidence(
        phase=Phase.COMPILE if report.check == "failed" else phase,
        exit_code=report.exit_code,
        signal=signal_name(report.signal) if report.signal else None,
        reached=frozenset() if reached is None else frozenset({reached}),
        heap_exhausted=report.heap_exhausted,
    )
    return _Cell(
        decide(evidence), report, stdout.close(report.stdout_bytes), stderr.close(report.stderr_bytes), report.check
    )


def _compilation(cell: _Cell) -> Compilation:
    time_ms = _ms(cell.report.wall_us) if cell.report else 0
    return Compilation(cell.decision.exit_code, cell.stdout, cell.stderr, time_ms)


def _ms(microseconds: int) -> int:
    return (microseconds + 500) // 1_000


def _stack_kb(memory_mb: int) -> int:
    """As large as the memory, less what keeps the two limits apart: endless recursion ends the same way every time."""
    return max(STACK_KB, (memory_mb << 10) - STACK_KB)


def compile_memory_mb(runtime: Runtime, job: Job) -> int:
    return max(runtime.compile_memory_mb, job.limits.memory_mb)


def signal_name(number: int) -> str:
    """``SIGSEGV`` for 11; the real-time ones have no name of their own."""
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def fill(argv: tuple[str, ...], runtime: Runtime, job: Job, name: SourceName) -> list[str]:
    """Put the names, the memory limit and the chosen options into a command."""
    words: Mapping[str, str] = {
        "source": name.file,
        "main": name.main,
        "memory_mb": str(job.limits.memory_mb),
        **{
            option: declared.values[job.program.options.get(option, declared.default)]
            for option, declared in runtime.options.items()
        },
    }
    return [_fill_word(part, words) for part in argv]


def _fill_word(part: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        part = part.replace("{" + word + "}", value)
    return part
