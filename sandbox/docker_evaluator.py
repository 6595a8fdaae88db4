"""The evaluator that workers use: every job gets a gVisor sandbox of its own, which is destroyed after it."""

import logging
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from sandbox.catalogue import Runtime, catalogue
from sandbox.docker import Engine, Room, Sandbox
from sandbox.errors import ImageMissing, RunCancelled, SandboxError
from sandbox.evaluator import Cancellation
from sandbox.images import image_tag
from sandbox.job import Job, Limits, Program
from sandbox.protocol import CellOrder, FrameType
from sandbox.result import Result, RuntimeStamp
from sandbox.session import Session, compile_memory_mb

logger = logging.getLogger(__name__)

STAGE_MB = 64  # sources, files and what a compiler makes of them
SENTRY_MB = 96  # gVisor's kernel and the supervisor; 26–40 MB were measured, more with many processes


class DockerEvaluator:
    def __init__(self, engine: Engine, *, concurrency: int) -> None:
        self._engine = engine
        self._stamps: dict[str, RuntimeStamp] = {}
        self._lock = threading.Lock()
        self._live: set[Sandbox] = set()
        # Nobody waits for a used sandbox to be gone; the next run would only wait for the engine.
        self._removals = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="remove-sandbox")

    def evaluate(self, job: Job, cancellation: Cancellation) -> Result:
        runtime = catalogue()[job.program.language]
        stamp = self._stamps.get(runtime.language)
        if stamp is None:
            raise ImageMissing(f"no image for {runtime.language}: run `python -m sandbox.images`")
        started = time.monotonic()
        sandbox = self._start(stamp.image, room_for(runtime, job))
        try:
            cancellation.bind(sandbox.kill)
            start_ms = round((time.monotonic() - started) * 1_000)
            return Session(sandbox, runtime, stamp).evaluate(job, start_ms=start_ms)
        except SandboxError:
            if cancellation.requested:
                raise RunCancelled from None
            raise
        finally:
            self._remove(sandbox)

    def runtimes(self) -> dict[str, RuntimeStamp]:
        return dict(self._stamps)

    def remove_leftovers(self, is_alive: Callable[[str], bool]) -> int:
        return self._engine.remove_leftovers(is_alive)

    def close(self) -> None:
        with self._lock:
            live = list(self._live)
        for sandbox in live:
            self._remove(sandbox)
        self._removals.shutdown(wait=True)
        self._engine.close()

    def measure_runtimes(self) -> None:
        """Start a sandbox of each image and ask it for its version: what is offered has been seen to run."""
        sandbox_version = self._engine.check_runtime()
        for runtime in catalogue().values():
            try:
                image = self._engine.digest(image_tag(runtime))
            except ImageMissing:
                logger.warning("no image for %s: this worker does not offer it", runtime.language)
                continue
            job = Job(Program(runtime.language, ""), limits=Limits(memory_mb=256))
            sandbox = self._start(image, room_for(runtime, job))
            try:
                version = _ask_version(sandbox, runtime)
            finally:
                self._remove(sandbox)
            name = self._engine.runtime if self._engine.insecure else "gvisor"
            self._stamps[runtime.language] = RuntimeStamp(version, image, name, sandbox_version)
        if not self._stamps:
            raise ImageMissing("no runtime image is built: run `python -m sandbox.images`")

    def _start(self, image: str, room: Room) -> Sandbox:
        sandbox = self._engine.start(image, room)
        with self._lock:
            self._live.add(sandbox)
        return sandbox

    def _remove(self, sandbox: Sandbox) -> "Future[None] | None":
        with self._lock:
            if sandbox not in self._live:
                return None
            self._live.discard(sandbox)
        return self._removals.submit(sandbox.remove)


def room_for(runtime: Runtime, job: Job) -> Room:
    """How large a sandbox must be so that the job's own limits always bite first."""
    run_mb = job.limits.memory_mb + runtime.memory_overhead_mb
    compile_mb = compile_memory_mb(runtime, job) if runtime.compile else 0
    return Room(
        memory_mb=max(run_mb, compile_mb) + job.limits.disk_mb + STAGE_MB + SENTRY_MB,
        processes=max(job.limits.processes, 128),
        box_mb=STAGE_MB,
    )


def _ask_version(sandbox: Sandbox, runtime: Runtime) -> str:
    order = CellOrder(
        compile=False, check=False, uid=60_000, wall_ms=60_000, cpu_ms=30_000, memory_kb=512 << 10, processes=64,
        output_bytes=1 << 16, disk_kb=1 << 10, stack_kb=8 << 10, argv=runtime.version_argv,
        environment=runtime.run.environment,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    sandbox.send(FrameType.CELL, order.encode(), deadline=deadline)
    shown = b""
    while (frame := sandbox.receive(deadline))[0] in (FrameType.STDOUT, FrameType.STDERR):
        shown += frame[1]
    found = re.search(rb"\d+(?:\.\d+)+", shown)
    if found is None:
        raise SandboxError(f"{runtime.language} does not say its version: {shown[:200]!r}, {frame!r}")
    return found[0].decode()
