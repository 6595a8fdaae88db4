"""The evaluator that workers use: a job's way through the compile cache, the pool of warm sandboxes, and cells."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sandbox.catalogue import Runtime, catalogue
from sandbox.command import fill
from sandbox.company import Company
from sandbox.compile_cache import Artefact, CompileCache, Compiled, cache_key
from sandbox.docker import Engine, Room, Sandbox
from sandbox.errors import ImageMissing, RunCancelled, SandboxError, SandboxLost
from sandbox.evaluator import KEPT_OUTPUT_BYTES, Cancellation, Judge
from sandbox.images import image_tag
from sandbox.job import Isolation, Job, Limits, Test
from sandbox.naming import SourceName, name_source
from sandbox.pool import Lease, Pool, PoolSize
from sandbox.result import Result, RunResult, RuntimeStamp, Stream, Usage
from sandbox.session import Cell, Run, Session, compile_memory_mb
from sandbox.verdict import Phase, Verdict

logger = logging.getLogger(__name__)

STAGE_MB = 64  # sources, files and what a compiler makes of them
SENTRY_MB = 96  # gVisor's kernel and the supervisor; 26 to 40 MB were measured, more with many processes
COMPILE_CACHE_MB = 256

# After these a sandbox may run another program of its account: it was not driven to any of its limits.
_REUSABLE_AFTER = {Verdict.SUCCEEDED, Verdict.COMPILE_ERROR, Verdict.RUNTIME_ERROR}
# These come out the same whatever else the machine does; a compile that ran into a limit may not.
_CACHEABLE = {Verdict.SUCCEEDED, Verdict.COMPILE_ERROR}


class DockerEvaluator:
    """See `sandbox.evaluator.Evaluator`. ``concurrency``: how many runs there will be at once."""

    def __init__(self, engine: Engine, *, concurrency: int, size: PoolSize) -> None:
        self._engine = engine
        self._stamps = _measure_runtimes(engine)
        self._company = Company()
        self._compiled = CompileCache(COMPILE_CACHE_MB << 20)
        self._pool = Pool(self._start, list(self._stamps), size, starters=concurrency)

    def evaluate(self, job: Job, cancellation: Cancellation, judge: Judge | None = None) -> Result:
        runtime = catalogue()[job.program.language]
        stamp = self._stamps.get(runtime.language)
        if stamp is None:
            raise ImageMissing(f"no image for {runtime.language}: run `python -m sandbox.images`")
        try:
            cancellation.bind(self._company.wake)
            with self._company.joined(alone=job.alone, gives_up=lambda: cancellation.requested) as stay:
                result = _Evaluation(self._pool, self._compiled, job, runtime, stamp, cancellation, judge).result()
                if cancellation.requested:
                    raise RunCancelled  # what it was stopped with is not its own verdict
                return replace(result, was_crowded=stay.was_crowded)
        except SandboxError:
            if cancellation.requested:
                raise RunCancelled from None
            raise

    def runtimes(self) -> dict[str, RuntimeStamp]:
        return dict(self._stamps)

    def reserve_alone(self, seconds: float) -> bool:
        return self._company.reserve_alone(seconds)

    def pool_state(self) -> dict[str, dict[str, int]]:
        return self._pool.state()

    def remove_leftovers(self, is_alive: Callable[[str], bool]) -> int:
        return self._engine.remove_leftovers(is_alive)

    def close(self) -> None:
        self._pool.close()
        self._engine.close()

    def _start(self, language: str) -> Sandbox:
        return self._engine.start(self._stamps[language].image, room_for(catalogue()[language], Limits()))


@dataclass(slots=True)
class _Evaluation:
    """One job on its way."""

    pool: Pool
    compiled: CompileCache
    job: Job
    runtime: Runtime
    stamp: RuntimeStamp
    cancellation: Cancellation
    judge: Judge | None
    waited_ms: int = 0

    def result(self) -> Result:
        job = self.job
        name = name_source(self.runtime, job.program.source)
        program = (*(Artefact(file.path, file.content) for file in job.program.files),
                   Artefact(name.file, job.program.source.encode()))  # fmt: skip
        if self.runtime.compile is None:
            return self._run_all(name, program, None)
        argv = fill(self.runtime.compile.argv, self.runtime, job.program, name, job.limits)
        key = cache_key(job.account, self.stamp.image, argv, job.program)
        found = self.compiled.get(key)
        memory_kb = compile_memory_mb(self.runtime, job.limits) << 10
        if found is None or not found.fits(cpu_time_ms=job.limits.compile_time_ms, memory_kb=memory_kb):
            return self._run_all(name, program, lambda session: self._compile(session, key, argv))
        again = replace(found, compilation=replace(found.compilation, time_ms=0, cached=True))
        if found.verdict is not Verdict.SUCCEEDED:
            return self._not_compiled(again)
        return self._run_all(name, found.artefacts, lambda _session: again)

    def _compile(self, session: Session, key: bytes, argv: list[str]) -> Compiled:
        compiled = session.compile(argv, self.job.limits)
        if compiled.verdict not in _CACHEABLE:
            return compiled
        if compiled.verdict is Verdict.SUCCEEDED:
            artefacts = session.export()
            if artefacts is None:
                return compiled
            compiled = replace(compiled, artefacts=artefacts)
        self.compiled.put(key, compiled)
        return compiled

    def _run_all(
        self, name: SourceName, staged: tuple[Artefact, ...], compile_: Callable[[Session], Compiled] | None
    ) -> Result:
        """Every run of the job, in as many sandboxes as it takes: a run that brings one down costs only itself."""
        runs = list(self.job.runs)
        cells: list[Cell] = []
        room = KEPT_OUTPUT_BYTES
        compiled: Compiled | None = None
        while len(cells) < len(runs):
            with self._sandbox() as (lease, session):
                session.stage(staged)
                if compile_ is not None:
                    compiled = compile_(session)
                    if compiled.verdict is not Verdict.SUCCEEDED:
                        lease.reusable = session.is_well and compiled.verdict in _REUSABLE_AFTER
                        return self._not_compiled(compiled)
                    if compiled.artefacts:  # should there be a next sandbox, it need not compile again
                        staged, compile_ = compiled.artefacts, None
                for cell in session.run(map(self._command(name), runs[len(cells) :]), ahead=not self.job.stops_early):
                    over = self._is_over(len(cells), cell)
                    kept = cell.result.cut(room) if self.job.tests and not cell.is_syntax_error else cell.result
                    room -= len(kept.stdout.content) + len(kept.stderr.content)
                    cells.append(replace(cell, result=kept))
                    if over:
                        # With orders on their way the sandbox is of no more use; without, it is as good as before.
                        lease.reusable = self.job.stops_early and self._leaves_well(session, cells)
                        return self._summary(cells, compiled)
                lease.reusable = self._leaves_well(session, cells)
        return self._summary(cells, compiled)

    def _command(self, name: SourceName) -> Callable[[Test], Run]:
        def command(test: Test) -> Run:
            limits = test.limits or self.job.limits
            argv = fill(self.runtime.run.argv, self.runtime, self.job.program, name, limits)
            return Run([*argv, *test.args], test.stdin, limits)

        return command

    def _is_over(self, number: int, cell: Cell) -> bool:
        """Whether no more tests need be run: the program does not even parse, or the judge has seen enough."""
        if not self.job.tests:
            return False
        if cell.is_syntax_error:
            return True
        return self.judge is not None and not self.judge(number, cell.result)

    @staticmethod
    def _leaves_well(session: Session, cells: list[Cell]) -> bool:
        return session.is_well and all(cell.result.verdict in _REUSABLE_AFTER for cell in cells)

    @contextmanager
    def _sandbox(self) -> Iterator[tuple[Lease, Session]]:
        """A sandbox with room for this job, which a cancellation stops from now on."""
        reuse = self.job.isolation is Isolation.ACCOUNT
        room = room_for(self.runtime, self.job.largest_limits)
        while True:
            with self.pool.lease(self.runtime.language, account=self.job.account, reuse=reuse) as lease:
                self.waited_ms += lease.waited_ms
                self.cancellation.bind(lease.sandbox.kill)
                try:
                    if lease.sandbox.set_memory(room.memory_mb):
                        yield lease, Session(lease.sandbox, self.runtime)
                        return
                finally:
                    # Before it goes back: a late cancel must not stop the account's next program in it.
                    self.cancellation.unbind()
                if lease.executions == 1:
                    raise SandboxLost("a new sandbox uses more memory than it may")
                # What ran before has left too much in use: on to the next sandbox, a new one in the end.

    def _not_compiled(self, compiled: Compiled) -> Result:
        return Result(
            verdict=compiled.verdict,
            phase=Phase.COMPILE,
            limit_exceeded=compiled.limit_exceeded,
            exit_code=None,
            signal=None,
            runtime=self.stamp,
            compilation=compiled.compilation,
            usage=Usage(start_ms=self.waited_ms, compile_time_ms=compiled.compilation.time_ms),
        )

    def _summary(self, cells: list[Cell], compiled: Compiled | None) -> Result:
        """The execution's own account of its runs."""
        compilation = compiled.compilation if compiled else None
        last = cells[-1]
        syntax_error = last.is_syntax_error
        tests = [cell.result for cell in cells] if self.job.tests and not syntax_error else []
        told = last if syntax_error else next((c for c in cells if c.result.verdict is not Verdict.SUCCEEDED), cells[0])
        result = told.result
        single = not self.job.tests or syntax_error
        return Result(
            verdict=result.verdict,
            phase=Phase.COMPILE if syntax_error else Phase.RUN,
            limit_exceeded=result.limit_exceeded,
            exit_code=result.exit_code,
            signal=result.signal,
            runtime=self.stamp,
            stdout=result.stdout if single else Stream(),
            stderr=result.stderr if single else Stream(),
            compilation=compilation,
            usage=replace(
                _sum_of([cell.result for cell in cells]),
                start_ms=self.waited_ms,
                compile_time_ms=compilation.time_ms if compilation else None,
            ),
            tests=tuple(tests),
        )


def _sum_of(runs: list[RunResult]) -> Usage:
    """Times added up, the highest memory; None where nothing was measured."""

    def known(values: list[int | None]) -> list[int]:
        return [value for value in values if value is not None]

    wall, cpu = known([run.usage.wall_time_ms for run in runs]), known([run.usage.cpu_time_ms for run in runs])
    memory = known([run.usage.memory_peak_kb for run in runs])
    return Usage(sum(wall) if wall else None, sum(cpu) if cpu else None, max(memory, default=None))


def room_for(runtime: Runtime, limits: Limits) -> Room:
    """How large a sandbox must be so that the limits of its cells always bite first."""
    run_mb = limits.memory_mb + runtime.memory_overhead_mb
    return Room(
        memory_mb=max(run_mb, compile_memory_mb(runtime, limits)) + limits.disk_mb + STAGE_MB + SENTRY_MB,
        processes=max(limits.processes, 128),
        box_mb=STAGE_MB,
    )


def _measure_runtimes(engine: Engine) -> dict[str, RuntimeStamp]:
    """Start a sandbox of each image and ask it for its version: what is offered has been seen to run."""
    sandbox_version = engine.check_runtime()
    sandbox_name = engine.runtime if engine.insecure else "gvisor"
    stamps: dict[str, RuntimeStamp] = {}
    for runtime in catalogue().values():
        try:
            image = engine.digest(image_tag(runtime))
        except ImageMissing:
            logger.warning("no image for %s: this worker does not offer it", runtime.language)
            continue
        sandbox = engine.start(image, room_for(runtime, Limits()))
        try:
            version = _ask_version(sandbox, runtime)
        finally:
            sandbox.remove()
        stamps[runtime.language] = RuntimeStamp(version, image, sandbox_name, sandbox_version)
    if not stamps:
        raise ImageMissing("no runtime image is built: run `python -m sandbox.images`")
    return stamps


def _ask_version(sandbox: Sandbox, runtime: Runtime) -> str:
    limits = Limits(wall_time_ms=60_000, cpu_time_ms=30_000, memory_mb=512, output_bytes=1 << 16)
    session = Session(sandbox, replace(runtime, checks_syntax=False))
    shown = next(session.run([Run(runtime.version_argv, b"", limits)])).result
    found = re.search(rb"\d+(?:\.\d+)+", shown.stdout.content + shown.stderr.content)
    if found is None:
        raise SandboxError(f"{runtime.language} does not say its version: {shown}")
    return found[0].decode()
