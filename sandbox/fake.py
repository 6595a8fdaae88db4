"""An evaluator without a sandbox, for tests of everything that stands above one. It runs nothing."""

import threading
from collections.abc import Callable
from dataclasses import replace

from sandbox.catalogue import catalogue
from sandbox.errors import RunCancelled, SandboxError
from sandbox.evaluator import Cancellation, Judge
from sandbox.job import Job
from sandbox.result import Compilation, Result, RunResult, RuntimeStamp, Stream, Usage
from sandbox.verdict import Phase, Verdict


def result(
    job: Job,
    *,
    verdict: Verdict = Verdict.SUCCEEDED,
    stdout: bytes = b"",
    stderr: bytes = b"",
    exit_code: int | None = 0,
    phase: Phase = Phase.RUN,
) -> Result:
    """A result as the real thing would give it for ``job``."""
    runtime = catalogue()[job.program.language]
    limit = job.limits.output_bytes
    return Result(
        verdict=verdict,
        phase=phase,
        limit_exceeded=None,
        exit_code=exit_code,
        signal=None,
        runtime=stamp(job.program.language),
        stdout=Stream(stdout[:limit], len(stdout)),
        stderr=Stream(stderr[:limit], len(stderr)),
        compilation=Compilation(0, Stream(), Stream(), 7) if runtime.compile else None,
        usage=Usage(wall_time_ms=5, cpu_time_ms=3, memory_peak_kb=9_000, start_ms=1),
    )


def echo(job: Job, judge: Judge | None = None) -> Result:
    """The job's result if its program does nothing but copy stdin to stdout."""
    if not job.tests:
        return result(job, stdout=job.stdin)
    runs: list[RunResult] = []
    for number, test in enumerate(job.tests):
        runs.append(
            RunResult(
                Verdict.SUCCEEDED, exit_code=0, stdout=Stream(test.stdin, len(test.stdin)), usage=Usage(5, 3, 9_000)
            )
        )
        if judge is not None and not judge(number, runs[-1]):
            break
    return replace(result(job), tests=tuple(runs))


def stamp(language: str) -> RuntimeStamp:
    return RuntimeStamp({"python": "3.13.5"}.get(language, "1.0.0"), f"sha256:fake-{language}", "fake", "0")


class FakeEvaluator:
    """Answers each job with ``script(job)``: by default its stdin comes back as stdout and it succeeds.

    A script may return a `Result`, raise `SandboxError`, or call `hold`, which blocks it until `release` is set or
    the run is cancelled: tests wait for ``entered`` and know that the run is under way.
    """

    def __init__(self, script: Callable[["FakeEvaluator", Job], Result] | None = None) -> None:
        self.script = script
        self.jobs: list[Job] = []
        self.entered = threading.Semaphore(0)
        self.release = threading.Event()
        self.leftovers: list[str] = []
        self.grants_alone = True
        self._closed = False

    def evaluate(self, job: Job, cancellation: Cancellation, judge: Judge | None = None) -> Result:
        woken = threading.Event()
        cancellation.bind(woken.set)
        self.jobs.append(job)
        self._local.cancelled = woken
        self._local.judge = judge
        return self.script(self, job) if self.script else echo(job, judge)

    _local = threading.local()

    @property
    def judge(self) -> Judge | None:
        """The judge of the calling run, for scripts."""
        found: Judge | None = self._local.judge
        return found

    def hold(self) -> None:
        """Block the calling run until `release` is set. Raises `RunCancelled` when the run is cancelled meanwhile."""
        self.entered.release()
        while not self.release.wait(0.01):
            if self._local.cancelled.is_set():
                raise RunCancelled
            if self._closed:
                raise SandboxError("closed")

    def runtimes(self) -> dict[str, RuntimeStamp]:
        return {language: stamp(language) for language in catalogue()}

    def reserve_alone(self, seconds: float) -> bool:
        return self.grants_alone

    def pool_state(self) -> dict[str, dict[str, int]]:
        return {}

    def remove_leftovers(self, is_alive: Callable[[str], bool]) -> int:
        gone = [worker for worker in self.leftovers if not is_alive(worker)]
        self.leftovers = [worker for worker in self.leftovers if worker not in gone]
        return len(gone)

    def close(self) -> None:
        self._closed = True
