"""Real Celery workers on a real broker, killed and robbed. Only what runs the programs is a fake."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from accounts.models import UsageRecord
from executions.models import Execution, Status, Worker
from tests.cast import Broker, Caller, allow
from tests.worker_process import Process, until

pytestmark = pytest.mark.django_db(transaction=True)


def count(*statuses: str) -> int:
    return Execution.objects.filter(status__in=statuses).count()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    processes: list[Process] = []

    def begin(concurrency: int = 10) -> Process:
        processes.append(Process(tmp_path / f"worker{len(processes)}.log", concurrency=concurrency))
        return processes[-1]

    yield begin
    for process in processes:
        process.stop()


def test_a_message_is_run_and_its_waiter_is_woken(owner: Caller, start: Callable[..., Process]) -> None:
    start()
    shown = owner.submit(wait=30)
    assert (shown["status"], shown["stdout"], shown["attempts"]) == ("SUCCEEDED", "4\n", 1)


def test_after_kill_9_with_ten_running_all_end_right_at_the_second_attempt(
    owner: Caller, start: Callable[..., Process]
) -> None:
    allow(max_concurrency=10)
    first = start()
    for _ in range(10):
        owner.submit(source="hold")
    until(lambda: count("RUNNING") == 10, first.said)
    first.signal(signal.SIGKILL)
    first.process.wait(timeout=20)
    # What they would be on a worker that lives: the second attempt is to end by itself.
    Execution.objects.update(source="fine")

    second = start()

    until(lambda: count("SUCCEEDED") == 10, second.said)
    assert set(Execution.objects.values_list("attempts", flat=True)) == {2}
    assert UsageRecord.objects.count() == 10


def test_when_the_broker_forgets_everything_all_still_finish(
    owner: Caller, broker: Broker, start: Callable[..., Process]
) -> None:
    allow(max_concurrency=20)
    for _ in range(20):
        owner.submit()
    assert broker.waiting() == 20
    broker.forget_everything()
    # Ten seconds later, as far as the sweep can tell.
    Execution.objects.update(send_after=Execution.objects.earliest("created_at").created_at)

    worker = start()

    until(lambda: count("SUCCEEDED") == 20, worker.said)
    # And it goes on as before.
    broker.forget_everything()
    assert owner.submit(wait=30)["status"] == "SUCCEEDED"


def test_term_lets_what_runs_finish_and_starts_nothing_more(owner: Caller, start: Callable[..., Process]) -> None:
    allow(max_concurrency=2)
    worker = start(concurrency=2)
    running = [owner.submit(source="sleep 1.5") for _ in range(2)]
    waiting = [owner.submit() for _ in range(4)]
    until(lambda: count("RUNNING") == 2, worker.said)

    worker.signal(signal.SIGTERM)

    assert worker.process.wait(timeout=30) == 0, worker.said()
    by_id: dict[str, Any] = {str(row.pk): row for row in Execution.objects.all()}
    assert {by_id[shown["executionId"]].status for shown in running} == {Status.SUCCEEDED}
    assert {by_id[shown["executionId"]].status for shown in waiting} == {Status.QUEUED}
    assert Worker.objects.get().stopped_at is not None

    Execution.objects.filter(status=Status.QUEUED).exclude(send_after=None).update(
        send_after=Execution.objects.earliest("created_at").created_at
    )
    other = start(concurrency=2)
    until(lambda: count("SUCCEEDED") == 6, other.said)
    assert set(Execution.objects.values_list("attempts", flat=True)) == {1}


def test_a_running_program_is_stopped_when_its_customer_says_so(owner: Caller, start: Callable[..., Process]) -> None:
    worker = start()
    pk = owner.submit(source="hold")["executionId"]
    until(lambda: count("RUNNING") == 1, worker.said)

    assert owner.post(f"/v1/executions/{pk}/cancel").status_code == 202

    assert owner.look(pk, "?wait=30")["status"] == "CANCELLED"


def test_a_failure_of_ours_neither_stops_the_worker_nor_tells_the_log_what_it_ran(
    owner: Caller, start: Callable[..., Process]
) -> None:
    worker = start()
    owner.submit(source="the secret program", stdin="the secret input", wait=30)
    failed = owner.submit(source="fail", stdin="the secret input", wait=30)

    assert (failed["status"], failed["attempts"]) == ("INTERNAL_ERROR", 3)
    assert owner.submit(wait=30)["status"] == "SUCCEEDED"
    logged = worker.log.read_text()
    assert failed["error"]["id"] in logged
    assert "secret" not in logged
    assert owner.key not in logged
