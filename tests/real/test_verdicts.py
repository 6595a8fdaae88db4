"""Every status in every phase that a language can reach, alone and under load: a verdict does not drift."""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from sandbox.docker_evaluator import DockerEvaluator
from sandbox.errors import SandboxError
from sandbox.evaluator import Cancellation
from sandbox.job import Job, Program
from tests.real.programs import CASES, Case, Outcome

pytestmark = pytest.mark.real


@pytest.fixture
def rounds(request: pytest.FixtureRequest) -> range:
    return range(request.config.getoption("--rounds", default=1))


def test_every_verdict_is_right_one_by_one(evaluator: DockerEvaluator, rounds: range) -> None:
    for number in rounds:
        assert wrong(evaluated(evaluator, case) for case in CASES) == [], f"in round {number + 1}"


def test_every_verdict_is_right_with_four_at_once_on_a_busy_machine(evaluator: DockerEvaluator, rounds: range) -> None:
    with busy_core(), ThreadPoolExecutor(max_workers=4) as pool:
        for number in rounds:
            assert wrong(pool.map(lambda case: evaluated(evaluator, case), CASES)) == [], f"in round {number + 1}"


def evaluated(evaluator: DockerEvaluator, case: Case) -> tuple[Case, str, bool]:
    """The case, what was got for it, and whether that is right."""
    try:
        result = evaluator.evaluate(Job(Program(case.language, case.source), limits=case.limits), Cancellation())
    except SandboxError as error:
        return case, f"{type(error).__name__}: {error}", False
    own_end = case.expected.own_end
    got = Outcome(
        result.verdict,
        result.phase,
        result.limit_exceeded,
        result.exit_code if own_end else None,
        result.signal if own_end else None,
        own_end,
    )
    shown = f"{got}, exit {result.exit_code}, {result.signal}, {result.usage}, {result.stderr.content[:300]!r}"
    return case, shown, got == case.expected


def wrong(results: Iterable[tuple[Case, str, bool]]) -> list[str]:
    return [f"{case.name}: {got}, not {case.expected}" for case, got, right in results if not right]


@contextmanager
def busy_core() -> Iterator[None]:
    """A neighbour that takes all of one core, and ends by itself should nobody be left to end it."""
    program = "import time\nend = time.monotonic() + 3600\nwhile time.monotonic() < end: sum(range(100_000))"
    neighbour = subprocess.Popen([sys.executable, "-c", program])
    try:
        yield
        assert neighbour.poll() is None, "the neighbour did not stay"
    finally:
        neighbour.kill()
        neighbour.wait()
