"""The resident part of a worker: heart-beat, leases, requests to stop, what others left behind."""

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from celery.exceptions import Reject
from django.db import OperationalError, connection
from django.utils import timezone

from executions import lifecycle, runner, tasks, worker
from executions.models import Execution, RuntimeImage, Status, Worker
from sandbox.errors import SandboxNotIsolated
from sandbox.fake import FakeEvaluator, result
from sandbox.job import Job
from sandbox.result import Result
from tests.cast import Caller, Workbench, make_resident

pytestmark = pytest.mark.django_db(transaction=True)


def held(fake: FakeEvaluator, job: Job) -> Result:
    fake.hold()
    return result(job, stdout=b"released")


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.fixture
def bench(db: None) -> Iterator[Workbench]:
    made = Workbench(held)
    yield made
    made.fake.release.set()


@pytest.fixture
def running(owner: Caller, bench: Workbench) -> Iterator[tuple[Execution, Future[None]]]:
    """An execution that is under way in a thread of its own until it is released or stopped."""
    pk = owner.submit()["executionId"]

    def run() -> None:
        try:
            bench.run(pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run)
        assert bench.fake.entered.acquire(timeout=20)
        yield Execution.objects.get(pk=pk), future
        bench.fake.release.set()


def test_the_beat_renews_the_leases_of_what_runs(bench: Workbench, running: tuple[Execution, Future[None]]) -> None:
    Execution.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    Worker.objects.update(seen_at=timezone.now() - timedelta(seconds=60))

    bench.resident.beat()

    assert Execution.objects.get().lease_until > timezone.now() + timedelta(seconds=10)  # type: ignore[operator]
    assert Worker.objects.get().seen_at > timezone.now() - timedelta(seconds=5)
    assert lifecycle.take_back(lifecycle.expired()) == 0


def test_the_beat_notices_a_request_to_stop(
    owner: Caller, bench: Workbench, running: tuple[Execution, Future[None]]
) -> None:
    execution, future = running
    owner.post(f"/v1/executions/{execution.pk}/cancel")

    bench.resident.beat()

    future.result(timeout=20)
    assert owner.look(str(execution.pk))["status"] == "CANCELLED"


def test_a_request_to_stop_is_heard_at_once(
    owner: Caller, bench: Workbench, running: tuple[Execution, Future[None]]
) -> None:
    execution, future = running
    listener = bench.resident._listener
    listener.start()
    assert listener.is_listening(within_s=10)

    owner.post(f"/v1/executions/{execution.pk}/cancel")

    future.result(timeout=20)
    listener.stop()
    assert Execution.objects.get().status == Status.CANCELLED


def test_a_run_that_was_taken_back_is_stopped_and_writes_nothing(
    bench: Workbench, running: tuple[Execution, Future[None]]
) -> None:
    _, future = running
    Execution.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    lifecycle.take_back(lifecycle.expired())

    bench.resident.beat()

    future.result(timeout=20)
    row = Execution.objects.get()
    assert (row.status, row.attempts) == (Status.QUEUED, 1)


def test_an_attempt_that_was_taken_back_is_told_from_the_next_on_the_same_worker(
    owner: Caller, bench: Workbench, running: tuple[Execution, Future[None]]
) -> None:
    execution, future = running
    Execution.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    lifecycle.take_back(lifecycle.expired())
    following = lifecycle.claim(execution.pk, worker_id=bench.resident.id)
    assert following
    with bench.resident.holding(following) as cancellation:
        bench.resident.beat()
        future.result(timeout=20)  # the old one was stopped, and wrote nothing
        bench.resident.beat()
        assert not cancellation.requested
    assert Execution.objects.get().status == Status.RUNNING
    assert Execution.objects.get().attempts == 2


def test_a_cancel_that_came_before_the_run_began_stops_it(owner: Caller, bench: Workbench) -> None:
    pk = uuid.UUID(owner.submit()["executionId"])
    claim = lifecycle.claim(pk, worker_id=bench.resident.id)
    assert claim
    lifecycle.cancel(claim.pk)
    claim.refresh_from_db()
    with bench.resident.holding(claim) as cancellation:
        assert cancellation.requested


def test_a_draining_worker_claims_nothing_and_gives_its_messages_back(
    owner: Caller, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_resident", bench.resident)
    pk = owner.submit()["executionId"]
    bench.resident.drain()

    with pytest.raises(Reject, match="True"):
        tasks.run_execution(pk)

    assert Execution.objects.get().status == Status.QUEUED


def test_stopping_says_so_and_leaves_no_sandbox(bench: Workbench) -> None:
    bench.resident.start()
    bench.resident.stop()
    assert Worker.objects.get().stopped_at is not None
    assert bench.fake._closed


def dead_worker(**fields: Any) -> Worker:
    """A row of a worker of this machine whose process is gone."""
    make_resident(FakeEvaluator(), pid_started=1, **fields)
    return Worker.objects.get(pid_started=1)


def test_what_a_dead_worker_of_this_machine_ran_is_taken_back_before_its_lease_ends(
    owner: Caller, bench: Workbench
) -> None:
    dead = dead_worker()
    pk = uuid.UUID(owner.submit()["executionId"])
    lifecycle.claim(pk, worker_id=dead.pk)

    bench.resident.tidy()

    assert Execution.objects.get().status == Status.QUEUED
    dead.refresh_from_db()
    assert dead.stopped_at is not None


def test_what_a_worker_of_another_machine_runs_is_left_to_its_lease(owner: Caller, bench: Workbench) -> None:
    other = dead_worker(realm="elsewhere")
    lifecycle.claim(uuid.UUID(owner.submit()["executionId"]), worker_id=other.pk)
    bench.resident.tidy()
    assert Execution.objects.get().status == Status.RUNNING


def test_sandboxes_of_the_dead_are_removed_and_of_no_one_else(bench: Workbench) -> None:
    dead = dead_worker()
    far_and_lost = make_resident(FakeEvaluator(), realm="elsewhere", seen_at=timezone.now() - timedelta(minutes=1))
    far_and_well = make_resident(FakeEvaluator(), realm="elsewhere")
    neighbour = make_resident(FakeEvaluator())
    of_another_installation = str(uuid.uuid4())
    bench.fake.leftovers = [
        str(dead.pk),
        str(far_and_lost.id),
        str(far_and_well.id),
        str(neighbour.id),
        str(bench.resident.id),
        of_another_installation,
        "doctor-1",
    ]

    bench.resident.tidy()

    assert set(bench.fake.leftovers) == {
        str(far_and_well.id),
        str(neighbour.id),
        str(bench.resident.id),
        of_another_installation,
        "doctor-1",
    }


def test_a_worker_that_was_not_heard_of_for_a_while_keeps_its_sandboxes(bench: Workbench) -> None:
    neighbour = make_resident(FakeEvaluator(), stopped_at=timezone.now())
    bench.fake.leftovers = [str(neighbour.id)]
    bench.resident.tidy()
    assert bench.fake.leftovers == [str(neighbour.id)]


def test_what_a_doctor_left_is_removed_when_it_is_gone(bench: Workbench) -> None:
    living = worker.name_visitor("doctor")
    kind, realm, pid, started = living.split("-")
    gone, far = f"{kind}-{realm}-{pid}-{int(started) - 1}", f"{kind}-{'0' * 16}-{pid}-1"
    bench.fake.leftovers = [living, gone, far]
    bench.resident.tidy()
    assert bench.fake.leftovers == [living, far]


def test_a_process_is_told_from_a_later_one_with_its_number() -> None:
    started = worker._pid_started(os.getpid())
    assert started
    assert worker._process_lives(Worker(pid=os.getpid(), pid_started=started))
    assert not worker._process_lives(Worker(pid=os.getpid(), pid_started=started - 1))
    assert not worker._process_lives(Worker(pid=2**22 + 1, pid_started=started))


def test_what_can_be_run_is_registered_once(bench: Workbench) -> None:
    before = RuntimeImage.objects.count()
    bench.resident.register_runtimes()
    assert RuntimeImage.objects.count() == before == len(bench.fake.runtimes())


def test_a_version_that_is_not_here_is_left_to_another_worker(owner: Caller, workbench: Workbench) -> None:
    shown = owner.submit(version="3.13")
    workbench.resident._versions["python"] = "3.14.1"
    workbench.run(shown["executionId"])
    row = Execution.objects.get()
    assert (row.status, row.attempts) == (Status.QUEUED, 0)
    assert workbench.fake.jobs == []


def test_a_machine_that_does_not_isolate_starts_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: object) -> Any:
        raise SandboxNotIsolated("the engine runs programs without gVisor")

    monkeypatch.setattr(worker, "connect", refuse)

    with pytest.raises(SystemExit, match="without gVisor"):
        worker._start(type("Instance", (), {"concurrency": 2})())
    assert not Worker.objects.exists()
    with pytest.raises(RuntimeError):
        worker.resident()


def test_a_worker_that_cannot_register_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(**options: object) -> Any:
        raise OperationalError("the database is down")

    monkeypatch.setattr(worker, "start_resident", down)
    with pytest.raises(SystemExit):
        worker._start(type("Instance", (), {"concurrency": 2})())


def test_a_keeper_survives_a_duty_that_fails(bench: Workbench) -> None:
    tries = threading.Semaphore(0)

    def fail() -> None:
        tries.release()
        raise ValueError("whatever")

    keeper = threading.Thread(target=bench.resident._keep, args=(fail, 0.001))
    keeper.start()
    for _ in range(3):
        assert tries.acquire(timeout=10)
    bench.resident._stopped.set()
    keeper.join(timeout=10)
    assert not keeper.is_alive()


def test_a_message_about_nothing_is_no_trouble(bench: Workbench) -> None:
    runner.run(uuid.uuid4(), resident=bench.resident)
    assert bench.fake.jobs == []


def test_a_message_that_comes_twice_runs_once(owner: Caller, workbench: Workbench) -> None:
    pk = owner.submit()["executionId"]
    workbench.run(pk)
    workbench.run(pk)
    assert len(workbench.fake.jobs) == 1
