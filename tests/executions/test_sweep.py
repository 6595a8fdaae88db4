import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Account
from executions import lifecycle
from executions.models import Execution, QueueState, RuntimeImage, Status, Worker
from executions.sweep import send_again, sweep
from executions.tasks import run_sweep
from tests.cast import Caller, Workbench, allow, at_once, make_resident
from tests.executions.test_dispatch import sent  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = timedelta(seconds=11)


def lose_messages() -> None:
    long_ago = timezone.now() - LONG_AGO
    Execution.objects.filter(admitted_at__isnull=False).update(send_after=timezone.now(), admitted_at=long_ago)


def test_what_was_admitted_and_not_claimed_is_sent_again(owner: Caller, sent: list[tuple[str, str]]) -> None:  # noqa: F811
    ids = [owner.submit()["executionId"] for _ in range(3)]
    sent.clear()
    assert send_again() == 0

    lose_messages()
    assert send_again() == 3
    assert sorted(pk for pk, _ in sent) == sorted(ids)
    assert send_again() == 0


def test_eight_sweeps_at_once_send_each_once(owner: Caller, sent: list[tuple[str, str]]) -> None:  # noqa: F811
    for _ in range(5):
        owner.submit()
    sent.clear()
    lose_messages()
    at_once([sweep] * 8)
    assert len(sent) == len(set(sent)) == 5


def test_a_suspended_account_is_sent_nothing(owner: Caller, sent: list[tuple[str, str]]) -> None:  # noqa: F811
    owner.submit()
    sent.clear()
    lose_messages()
    Account.objects.update(suspended_at=timezone.now())
    assert send_again() == 0
    Account.objects.update(suspended_at=None)
    assert send_again() == len(sent) == 1


def test_a_language_that_is_no_longer_run_gives_its_slots_to_the_others(
    owner: Caller,
    sent: list[tuple[str, str]],  # noqa: F811
) -> None:
    allow(max_concurrency=2)
    Workbench()
    for language in ("java", "java", "python"):
        owner.submit(language=language)
    RuntimeImage.objects.filter(language="java").update(seen_at=timezone.now() - timedelta(hours=1))

    sweep()
    sweep()

    assert [queue for _, queue in sent] == ["executions.java", "executions.java", "executions.python"]
    assert list(QueueState.objects.values_list("waiting", "admitted")) == [(2, 1)]
    assert Execution.objects.get(language="python").admitted_at is not None


def test_the_pause_grows_while_the_line_is_long(owner: Caller) -> None:
    owner.submit()
    for age, least, most in ((11, 9, 13), (30, 28, 33), (3_600, 58, 62)):
        Execution.objects.update(admitted_at=timezone.now() - timedelta(seconds=age), send_after=timezone.now())
        send_again()
        pause = (Execution.objects.get().send_after - timezone.now()).total_seconds()  # type: ignore[operator]
        assert least <= pause <= most


def test_a_free_slot_that_nobody_filled_is_filled(owner: Caller) -> None:
    allow(max_concurrency=0)
    owner.submit()
    allow(max_concurrency=1)
    sweep()
    assert Execution.objects.get().admitted_at is not None


def test_what_a_lost_worker_ran_runs_again(owner: Caller) -> None:
    shown = owner.submit()
    claim = lifecycle.claim(uuid.UUID(shown["executionId"]), worker_id=uuid.uuid4())
    assert claim
    Execution.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    run_sweep()
    assert Execution.objects.get().status == Status.QUEUED
    Workbench().run_all()
    finished = owner.look(shown["executionId"])
    assert (finished["status"], finished["attempts"]) == ("SUCCEEDED", 2)


def test_an_execution_that_is_claimed_or_finished_is_not_sent(owner: Caller, sent: list[tuple[str, str]]) -> None:  # noqa: F811
    owner.submit()
    Workbench().run_all()
    sent.clear()
    sweep()
    assert sent == []


def test_workers_that_are_no_more_are_marked_and_later_forgotten(db: None) -> None:
    from sandbox.fake import FakeEvaluator  # noqa: PLC0415

    make_resident(FakeEvaluator())
    sweep()
    assert Worker.objects.get().stopped_at is None
    Worker.objects.update(seen_at=timezone.now() - timedelta(minutes=2))
    sweep()
    assert Worker.objects.get().stopped_at is not None
    Worker.objects.update(stopped_at=timezone.now() - timedelta(days=8))
    sweep()
    assert not Worker.objects.exists()
