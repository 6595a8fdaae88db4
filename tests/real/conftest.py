"""The tests that need Docker with gVisor. They need nothing else: no database, no Redis, no settings."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from sandbox.connect import connect_evaluator
from sandbox.docker_evaluator import DockerEvaluator
from sandbox.evaluator import Cancellation
from sandbox.job import File, Job, Limits, Program
from sandbox.result import Result

# Wide enough that a busy machine never reaches one; each test narrows what it is about.
ROOMY = Limits(wall_time_ms=30_000, cpu_time_ms=15_000, compile_time_ms=30_000, memory_mb=128)

Run = Callable[..., Result]


@pytest.fixture(scope="session")
def evaluator() -> Iterator[DockerEvaluator]:
    evaluator = connect_evaluator(worker=f"test-{uuid.uuid4().hex}", concurrency=2)
    yield evaluator
    evaluator.close()


@pytest.fixture
def run(evaluator: DockerEvaluator) -> Run:
    """``run(language, source, stdin=b"", args=(), files={path: content}, **limits)``: a program in its own sandbox."""

    def run(
        language: str,
        source: str,
        stdin: bytes = b"",
        args: tuple[str, ...] = (),
        *,
        files: dict[str, bytes] | None = None,
        options: dict[str, str] | None = None,
        **limits: int,
    ) -> Result:
        program = Program(
            language, source, tuple(File(path, content) for path, content in (files or {}).items()), options or {}
        )
        job = Job(program, stdin=stdin, args=args, limits=replace(ROOMY, **limits))
        return evaluator.evaluate(job, Cancellation())

    return run
