"""An evaluation whose worker and whose client are killed in the middle, more than once."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from accounts.models import UsagePeriod
from executions.evaluations.estimator import pass_at_k
from executions.models import UNFINISHED, Execution
from tests.cast import Caller
from tests.client.test_client import write
from tests.worker_process import Process, until

pytestmark = pytest.mark.django_db(transaction=True)

CLIENT = Path(__file__).parents[2] / "clients" / "python" / "src"
PROBLEMS, CANDIDATES = 50, 40


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Process]]:
    started: list[Process] = []

    def begin() -> Process:
        started.append(Process(tmp_path / f"worker{len(started)}.log", concurrency=20))
        return started[-1]

    yield begin
    for process in started:
        process.stop()


def ended() -> int:
    return Execution.objects.exclude(status__in=UNFINISHED).count()


def text_of(problem: int, number: int) -> str:
    """Some are wrong, and of the right ones some are the same."""
    return f"    wrong {number}\n" if number % (problem % 7 + 2) else f"    return {number % 25}\n"


def test_every_program_is_run_once_in_the_record_and_the_score_is_that_of_an_undisturbed_run(
    served: Caller, start: Callable[[], Process], tmp_path: Path
) -> None:
    given = {"prompt": "def f():\n", "test": "def check(f): pass", "entry_point": "f"}
    problems = write(tmp_path / "p.jsonl", *[{"task_id": str(number), **given} for number in range(PROBLEMS)])
    samples = write(
        tmp_path / "s.jsonl",
        *[
            {"task_id": str(problem), "completion": text_of(problem, number)}
            for number in range(CANDIDATES)
            for problem in range(PROBLEMS)
        ],
    )
    results = tmp_path / "results.jsonl"
    command = [sys.executable, "-m", "codeforge_client.command", "evaluate", str(problems), str(samples)]

    def client() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, "--k", "1,10", "--results", str(results)],
            env={**os.environ, "PYTHONPATH": str(CLIENT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    worker, asking = start(), client()
    # The worker three times, the client twice, always in the middle.
    for at, killed in ((150, "worker"), (300, "client"), (500, "worker"), (700, "client"), (900, "worker")):
        until(lambda at=at: ended() >= at, worker.said, within_s=240)  # type: ignore[misc]
        if killed == "worker":
            worker.signal(signal.SIGKILL)
            worker.process.wait(timeout=20)
            worker = start()
        else:
            asking.kill()
            asking.communicate()
            asking = client()
    said, _ = asking.communicate(timeout=300)

    assert asking.returncode == 0, worker.said()
    distinct = len({(problem, text_of(problem, number)) for problem in range(PROBLEMS) for number in range(CANDIDATES)})
    assert Execution.objects.count() == distinct
    assert UsagePeriod.objects.get().runs == distinct
    passed = [json.loads(line)["passed"] for line in results.read_text().splitlines()]
    assert len(passed) == PROBLEMS * CANDIDATES
    assert None not in passed
    for k in (1, 10):
        right = [sum("wrong" not in text_of(one, number) for number in range(CANDIDATES)) for one in range(PROBLEMS)]
        expected = sum(pass_at_k(CANDIDATES, c, k) for c in right) / PROBLEMS
        assert f"pass@{k}  {expected:.4f}" in said
