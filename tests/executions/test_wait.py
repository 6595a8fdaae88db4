"""`?wait=`: woken by the event. No test sleeps; each waits for what it wants to see."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections

from executions import notify, queries, waiting
from executions.models import Execution
from executions.waiting import Waiters
from tests.cast import PROGRAM, Caller, Workbench, read

pytestmark = pytest.mark.django_db(transaction=True)

# Far longer than any of these tests may take: nothing here may end because the time was up.
LONG = 30


@pytest.fixture
def waiters(monkeypatch: pytest.MonkeyPatch) -> Iterator[Waiters]:
    made = Waiters(most=8)
    monkeypatch.setattr(waiting, "_waiters", made)
    yield made
    made.close()


@pytest.fixture
def threads() -> Iterator[Callable[[Callable[[], Any]], Future[Any]]]:
    with ThreadPoolExecutor(16) as pool:

        def start(call: Callable[[], Any]) -> Future[Any]:
            def run() -> Any:
                try:
                    return call()
                finally:
                    connection.close()

            return pool.submit(run)

        yield start


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def asleep(waiters: Waiters, execution_id: str, count: int = 1) -> bool:
    return len(waiters._sleepers.get(uuid.UUID(execution_id), ())) == count


def test_a_request_is_woken_when_its_execution_ends(
    owner: Caller, workbench: Workbench, waiters: Waiters, threads: Callable[..., Future[Any]]
) -> None:
    pk = owner.submit()["executionId"]
    waiting = threads(lambda: owner.look(pk, f"?wait={LONG}"))
    until(lambda: asleep(waiters, pk))

    workbench.run(pk)

    assert waiting.result(timeout=10)["status"] == "SUCCEEDED"
    assert not waiters._sleepers


def test_submitting_can_wait_too(
    owner: Caller, workbench: Workbench, waiters: Waiters, threads: Callable[..., Future[Any]]
) -> None:
    waiting = threads(lambda: owner.post(f"/v1/executions?wait={LONG}", PROGRAM))
    until(lambda: waiters._sleepers)

    workbench.run_all()

    response = waiting.result(timeout=10)
    assert response.status_code == 202
    assert read(response)["stdout"] == "4\n"


@pytest.mark.parametrize("how", ["cancel", "delete"])
def test_being_cancelled_or_erased_wakes_too(
    owner: Caller, waiters: Waiters, threads: Callable[..., Future[Any]], how: str
) -> None:
    pk = owner.submit()["executionId"]
    waiting = threads(lambda: owner.get(f"/v1/executions/{pk}?wait={LONG}"))
    until(lambda: asleep(waiters, pk))

    if how == "cancel":
        owner.post(f"/v1/executions/{pk}/cancel")
        assert read(waiting.result(timeout=10))["status"] == "CANCELLED"
    else:
        owner.delete(f"/v1/executions/{pk}")
        assert waiting.result(timeout=10).status_code == 404


def test_several_wait_for_the_same(
    owner: Caller, workbench: Workbench, waiters: Waiters, threads: Callable[..., Future[Any]]
) -> None:
    pk = owner.submit()["executionId"]
    all_of_them = [threads(lambda: owner.look(pk, f"?wait={LONG}")) for _ in range(5)]
    until(lambda: asleep(waiters, pk, 5))

    workbench.run(pk)

    assert {waiting.result(timeout=10)["status"] for waiting in all_of_them} == {"SUCCEEDED"}


def test_when_the_time_is_up_the_present_state_is_told(owner: Caller, waiters: Waiters) -> None:
    pk = owner.submit()["executionId"]
    started = time.monotonic()
    assert owner.look(pk, "?wait=0.3")["status"] == "QUEUED"
    assert 0.3 <= time.monotonic() - started < 5


def test_what_has_ended_is_answered_at_once(owner: Caller, workbench: Workbench, waiters: Waiters) -> None:
    pk = owner.submit()["executionId"]
    workbench.run(pk)
    started = time.monotonic()
    assert owner.look(pk, f"?wait={LONG}")["status"] == "SUCCEEDED"
    assert time.monotonic() - started < LONG / 2


def test_what_ends_between_subscribing_and_looking_is_not_missed(
    owner: Caller, workbench: Workbench, waiters: Waiters, monkeypatch: pytest.MonkeyPatch
) -> None:
    pk = owner.submit()["executionId"]
    real_look = queries.is_finished

    def look(execution_id: uuid.UUID) -> bool:
        found = real_look(execution_id)
        workbench.run(pk)
        return found

    monkeypatch.setattr(queries, "is_finished", look)

    # The first look says "not yet", and the end comes right after it.
    assert owner.look(pk, f"?wait={LONG}")["status"] == "SUCCEEDED"


def test_a_sleeper_holds_no_database_connection(
    owner: Caller, waiters: Waiters, threads: Callable[..., Future[Any]], workbench: Workbench
) -> None:
    pk = owner.submit()["executionId"]
    held: list[bool] = []

    def look() -> dict[str, Any]:
        real_wait, looker = threading.Event.wait, threading.current_thread()

        def wait(event: threading.Event, timeout: float | None = None) -> bool:
            if threading.current_thread() is looker:  # the listener waits as well, with a connection of its own
                held.append(connections["default"].connection is not None)
            return real_wait(event, timeout)

        threading.Event.wait = wait  # type: ignore[method-assign, assignment]
        try:
            return owner.look(pk, f"?wait={LONG}")
        finally:
            threading.Event.wait = real_wait  # type: ignore[method-assign]

    sleeping = threads(look)
    # The first wait is for the listener; the one that sleeps is after it, and ends only with the run.
    until(lambda: asleep(waiters, pk) and held and held[-1] is False)
    workbench.run(pk)
    sleeping.result(timeout=10)


def test_beyond_the_bound_the_present_state_is_told_at_once(
    owner: Caller, workbench: Workbench, waiters: Waiters, threads: Callable[..., Future[Any]]
) -> None:
    pk = owner.submit()["executionId"]
    sleeping = [threads(lambda: owner.look(pk, f"?wait={LONG}")) for _ in range(8)]
    until(lambda: asleep(waiters, pk, 8))

    assert owner.look(pk, f"?wait={LONG}")["status"] == "QUEUED"

    workbench.run(pk)
    for one in sleeping:
        assert one.result(timeout=10)["status"] == "SUCCEEDED"
    assert owner.look(pk, f"?wait={LONG}")["status"] == "SUCCEEDED"


def test_a_bound_of_zero_lets_nobody_wait(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_waiters", Waiters(most=0))
    pk = owner.submit()["executionId"]
    assert owner.look(pk, f"?wait={LONG}")["status"] == "QUEUED"


def test_a_connection_that_is_lost_is_made_again_and_everybody_looks(
    owner: Caller,
    workbench: Workbench,
    waiters: Waiters,
    threads: Callable[..., Future[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pk = owner.submit()["executionId"]
    sleeping = threads(lambda: owner.look(pk, f"?wait={LONG}"))
    until(lambda: asleep(waiters, pk))

    # The end is announced while nobody listens: only the look after the reconnection can find it.
    monkeypatch.setattr(notify, "_notify", lambda channel, execution: None)
    workbench.run(pk)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'codeforge listener' AND datname = current_database()"
        )
    assert sleeping.result(timeout=20)["status"] == "SUCCEEDED"


def test_a_wake_up_for_nobody_is_no_trouble(owner: Caller, workbench: Workbench, waiters: Waiters) -> None:
    pk = owner.submit()["executionId"]
    owner.look(pk, "?wait=0.1")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [notify.FINISHED, str(uuid.uuid4())])
        cursor.execute("SELECT pg_notify(%s, %s)", [notify.FINISHED, "not an id"])
    workbench.run(pk)
    assert owner.look(pk, "?wait=5")["status"] == "SUCCEEDED"
    assert waiters._listener
    assert waiters._listener.is_listening(within_s=5)
    assert Execution.objects.count() == 1
