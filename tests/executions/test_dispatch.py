import threading
import uuid
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Account
from executions import dispatch, lifecycle
from executions.models import Execution, QueueState, RuntimeImage, Status
from tests.cast import Caller, Workbench, allow, at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """(execution, queue) of each message, instead of a broker."""
    messages: list[tuple[str, str]] = []

    def send_task(name: str, *, args: list[str], queue: str, expires: int) -> None:
        assert name == "executions.run"
        assert 60 < expires < 600  # the next message comes before the last expires
        messages.append((args[0], queue))

    monkeypatch.setattr("celery.current_app.send_task", send_task)
    return messages


def admitted() -> int:
    return Execution.objects.filter(admitted_at__isnull=False, status__in=["QUEUED", "RUNNING"]).count()


def test_each_admitted_execution_is_one_message_in_the_queue_of_its_language(
    owner: Caller, sent: list[tuple[str, str]]
) -> None:
    one, two = owner.submit(), owner.submit(language="cpp")
    assert sent == [(one["executionId"], "executions.python"), (two["executionId"], "executions.cpp")]


def test_an_account_has_no_more_messages_than_slots(owner: Caller, sent: list[tuple[str, str]]) -> None:
    allow(max_concurrency=3)
    for _ in range(10):
        owner.submit()
    assert len(sent) == admitted() == 3


def test_a_slot_that_is_freed_goes_to_the_oldest(owner: Caller, sent: list[tuple[str, str]]) -> None:
    allow(max_concurrency=1)
    ids = [owner.submit()["executionId"] for _ in range(4)]
    Workbench().run_all()
    assert [pk for pk, _ in sent] == ids


def test_a_language_that_no_worker_runs_takes_no_slot(owner: Caller, sent: list[tuple[str, str]]) -> None:
    allow(max_concurrency=1)
    Workbench()
    RuntimeImage.objects.filter(language="java").update(seen_at=timezone.now() - timedelta(hours=1))
    waiting, served = owner.submit(language="java"), owner.submit()
    assert [pk for pk, _ in sent] == [served["executionId"]]
    Workbench().run_all()
    assert [pk for pk, _ in sent] == [served["executionId"], waiting["executionId"]]


def test_one_accounts_queue_is_not_in_front_of_anothers(
    owner: Caller, stranger: Caller, sent: list[tuple[str, str]]
) -> None:
    allow(max_concurrency=2)
    for _ in range(20):
        owner.submit()
    last = stranger.submit()["executionId"]
    assert [pk for pk, _ in sent].index(last) == 2


def test_forty_submissions_and_as_many_ends_at_once_fill_the_slots_exactly(owner: Caller) -> None:
    allow(max_concurrency=3)
    bench = Workbench()
    most = 0
    running = 0
    lock = threading.Lock()

    def script(fake: Any, job: Any) -> Any:
        nonlocal most, running
        from sandbox.fake import result  # noqa: PLC0415

        with lock:
            running += 1
            most = max(most, running)
        made = result(job)
        with lock:
            running -= 1
        return made

    bench.fake.script = script

    def submit_and_work() -> None:
        owner.submit()
        for pk in list(
            Execution.objects.filter(status="QUEUED", admitted_at__isnull=False).values_list("pk", flat=True)
        ):
            bench.run(pk)

    at_once([submit_and_work] * 40)
    bench.run_all()

    assert most <= 3
    assert Execution.objects.filter(status=Status.SUCCEEDED).count() == 40
    assert QueueState.objects.values_list("waiting", "admitted").get() == (0, 0)


def test_no_wake_up_is_lost_between_the_last_end_and_the_next_submission(owner: Caller) -> None:
    """Whoever comes second sees the first: in the end nothing waits beside a free slot."""
    allow(max_concurrency=1)
    bench = Workbench()
    for _ in range(15):
        first = uuid.UUID(owner.submit()["executionId"])
        at_once([partial(bench.run, first), owner.submit])
        assert admitted() == 1
        bench.run_all()


def test_admitting_twice_at_once_gives_no_slot_twice(owner: Caller, sent: list[tuple[str, str]]) -> None:
    allow(max_concurrency=0)
    for _ in range(10):
        owner.submit()
    allow(max_concurrency=4)
    account = owner.account

    at_once([lambda: dispatch.admit(account.pk)] * 10)

    assert admitted() == len(sent) == len(set(sent)) == 4


def test_nothing_is_admitted_for_a_suspended_account(owner: Caller) -> None:
    allow(max_concurrency=0)
    owner.submit()
    Account.objects.update(suspended_at=timezone.now())
    allow(max_concurrency=5)
    dispatch.admit(owner.account.pk)
    assert admitted() == 0


def test_a_broker_that_failed_is_left_alone_for_a_moment(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = 0

    def dead(*args: object, **options: object) -> None:
        nonlocal tries
        tries += 1
        raise OSError

    monkeypatch.setattr("celery.current_app.send_task", dead)
    for _ in range(5):
        owner.submit()
    assert tries == 1


def test_a_second_attempt_keeps_its_slot_and_is_sent_at_once(owner: Caller, sent: list[tuple[str, str]]) -> None:
    pk = owner.submit()["executionId"]
    claim = lifecycle.claim(uuid.UUID(pk), worker_id=uuid.uuid4())
    assert claim
    lifecycle.requeue_or_fail(claim, code="x", retryable=True)

    assert [message for message, _ in sent] == [pk, pk]
    assert admitted() == 1
