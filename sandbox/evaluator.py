"""The one door of this package: an evaluator takes a job and gives a result."""

import threading
from collections.abc import Callable
from typing import Protocol

from sandbox.errors import RunCancelled
from sandbox.job import Job
from sandbox.result import Result, RunResult, RuntimeStamp


class Cancellation:
    """Lets another thread stop a run. ``cancel()`` may come before, during or after it, any number of times."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop: Callable[[], None] | None = None
        self.requested = False

    def cancel(self) -> None:
        with self._lock:
            self.requested = True
            stop = self._stop
        if stop is not None:
            stop()

    def unbind(self) -> None:
        """What was named is not ours to stop any more."""
        with self._lock:
            self._stop = None

    def bind(self, stop: Callable[[], None]) -> None:
        """Name what stops the run from now on. Raises `RunCancelled` when the request has come already."""
        with self._lock:
            if self.requested:
                raise RunCancelled
            self._stop = stop


# Sees each test's number (from 0) and whole result as soon as it has ended; says whether the next one shall run.
Judge = Callable[[int, RunResult], bool]

# What a job may keep of the outputs of its tests, in bytes, all of them together. The judge sees everything.
KEPT_OUTPUT_BYTES = 8 << 20


class Evaluator(Protocol):
    """Thread-safe: one evaluator serves all threads of a worker.

    `evaluate` raises `SandboxError` when we failed and `RunCancelled` when it was cancelled; every failure of the
    program is a `Result`. It returns within the limits of the job plus a bounded margin, whatever the program does.
    """

    def evaluate(self, job: Job, cancellation: Cancellation, judge: Judge | None = None) -> Result: ...

    def runtimes(self) -> dict[str, RuntimeStamp]:
        """What can be run here, by language: measured in a sandbox of each, so that what is offered is seen to work."""
        ...

    def reserve_alone(self, seconds: float) -> bool:
        """Whether a job of about so many seconds may run ``alone`` now, which makes all others wait."""
        ...

    def pool_state(self) -> dict[str, dict[str, int]]:
        """By language: how many sandboxes stand ready, are being started, are in use, are kept for their account."""
        ...

    def remove_leftovers(self, is_alive: Callable[[str], bool]) -> int:
        """Remove the sandboxes of other workers that are not alive any more, and say how many it were.

        ``is_alive`` is asked with the label of each worker that has a sandbox on this engine.
        """
        ...

    def close(self) -> None:
        """Remove everything that is left. Runs still going on end with `SandboxLost`."""
        ...
