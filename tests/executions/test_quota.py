import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.utils import timezone

from accounts.models import Override, UsagePeriod, UsageRecord
from accounts.usage import current_period
from executions import queries
from executions.models import Execution, QueueState
from sandbox.errors import SandboxLost
from sandbox.fake import FakeEvaluator
from sandbox.job import Job
from sandbox.result import Result
from tests.cast import PROGRAM, Caller, Workbench, allow, at_once, refused
from tests.conftest import Clock

pytestmark = pytest.mark.django_db(transaction=True)


def move_clock(monkeypatch: pytest.MonkeyPatch, to: datetime) -> None:
    monkeypatch.setattr(timezone, "now", lambda: to)


def test_a_month_has_as_many_runs_as_the_plan_says(owner: Caller, workbench: Workbench) -> None:
    allow(monthly_runs=2)
    owner.submit()
    workbench.run_all()
    owner.submit()

    problem = refused(owner.post("/v1/executions", PROGRAM), 402, "quota_exceeded")

    assert (problem["used"], problem["limit"]) == (2, 2)
    assert problem["resetsAt"] == current_period().end.isoformat().replace("+00:00", "Z")
    assert Execution.objects.count() == 2


def test_none_is_without_limit_and_zero_is_none(owner: Caller) -> None:
    allow(monthly_runs=None)
    owner.submit()
    allow(monthly_runs=0)
    refused(owner.post("/v1/executions", PROGRAM), 402, "quota_exceeded")


def test_what_was_cancelled_before_it_started_is_given_back(owner: Caller) -> None:
    allow(monthly_runs=1)
    shown = owner.submit()
    owner.post(f"/v1/executions/{shown['executionId']}/cancel")

    owner.submit()


def test_our_failures_are_given_back(owner: Caller) -> None:
    def lose(fake: FakeEvaluator, job: Job) -> Result:
        raise SandboxLost("gone")

    allow(monthly_runs=1)
    shown = owner.submit()
    Workbench(lose).run_all()
    assert owner.look(shown["executionId"])["status"] == "INTERNAL_ERROR"
    assert not UsageRecord.objects.exists()

    owner.submit()


def test_the_month_turns_over_without_anything_having_to_run(
    owner: Caller, workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(monthly_runs=1)
    move_clock(monkeypatch, datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC))
    owner.submit()
    workbench.run_all()
    problem = refused(owner.post("/v1/executions", PROGRAM), 402, "quota_exceeded")
    assert problem["resetsAt"] == "2027-01-01T00:00:00Z"

    move_clock(monkeypatch, datetime(2027, 1, 1, tzinfo=UTC))
    owner.submit()
    workbench.run_all()
    assert list(UsagePeriod.objects.order_by("start").values_list("start__year", "runs")) == [(2026, 1), (2027, 1)]


def test_of_two_hundred_at_once_with_fifty_left_exactly_fifty_are_accepted(owner: Caller, workbench: Workbench) -> None:
    allow(monthly_runs=50, max_concurrency=50)

    statuses = at_once([lambda: owner.post("/v1/executions", PROGRAM).status_code] * 200)

    assert sorted(statuses) == [202] * 50 + [402] * 150
    workbench.run_all()
    assert UsagePeriod.objects.get().runs == UsageRecord.objects.count() == 50


def test_submitting_while_runs_end_never_goes_over_the_quota(owner: Caller) -> None:
    """A run that moves from unfinished to used while it is counted must be seen in one of the two."""
    allow(monthly_runs=40, max_concurrency=50)
    bench = Workbench()
    submitted = [owner.submit()["executionId"] for _ in range(25)]
    submissions: list[Callable[[], int | None]] = [lambda: owner.post("/v1/executions", PROGRAM).status_code] * 30
    runs: list[Callable[[], int | None]] = [partial(bench.run, pk) for pk in submitted]

    results = at_once([*submissions, *runs])

    assert results.count(202) == 15
    assert results.count(402) == 15


def test_control_counting_without_the_lock_goes_over(owner: Caller) -> None:
    account = owner.account
    counted = threading.Barrier(20)

    def naive() -> None:
        room = queries.load_of(account).unfinished < 5
        counted.wait(timeout=30)
        if room:
            Execution.objects.create(account=account, limits={})

    at_once([naive] * 20)
    assert Execution.objects.count() > 5


def test_a_queue_that_is_full_refuses_and_says_when_to_come_again(owner: Caller) -> None:
    allow(max_concurrency=2, max_queued=3)
    for _ in range(5):
        owner.submit()

    response = owner.post("/v1/executions", PROGRAM)

    problem = refused(response, 429, "queue_full")
    assert (problem["queued"], problem["limit"]) == (3, 3)
    assert int(response.headers["Retry-After"]) > 0
    assert Execution.objects.count() == 5


def test_the_counts_are_kept_whoever_changes_a_row(owner: Caller) -> None:
    allow(max_concurrency=1)
    for _ in range(3):
        owner.submit()
    assert QueueState.objects.values_list("waiting", "admitted").get() == (2, 1)

    Execution.objects.filter(admitted_at=None).delete()
    assert QueueState.objects.values_list("waiting", "admitted").get() == (0, 1)
    Execution.objects.update(status="CANCELLED", finished_at=timezone.now(), send_after=None)
    assert QueueState.objects.values_list("waiting", "admitted").get() == (0, 0)


def test_a_run_is_counted_once_whatever_happens(owner: Caller, workbench: Workbench) -> None:
    owner.submit()
    workbench.run_all()
    record = UsageRecord.objects.get()
    assert (record.execution_id, record.cpu_time_ms, record.wall_time_ms) == (Execution.objects.get().pk, 3, 5)
    assert UsagePeriod.objects.get().runs == 1


def test_a_full_queue_is_answered_with_the_pace_of_the_accounts_own_runs(owner: Caller, clock: Clock) -> None:
    allow(max_concurrency=1, max_queued=0)
    bench = Workbench()
    for _ in range(4):
        owner.submit()
        bench.run_all()
    UsageRecord.objects.update(recorded_at=clock.at - timedelta(seconds=80))  # four in 80 seconds
    owner.submit()
    assert owner.post("/v1/executions", PROGRAM).headers["Retry-After"] == "20"

    UsageRecord.objects.update(recorded_at=clock.at - timedelta(hours=1))
    assert owner.post("/v1/executions", PROGRAM).headers["Retry-After"] == "60"


def test_a_lower_number_in_mid_flight_stops_nothing_and_holds_for_what_comes(owner: Caller) -> None:
    allow(monthly_runs=5, max_concurrency=3)
    shown = [owner.submit()["executionId"] for _ in range(4)]
    allow(monthly_runs=2, max_concurrency=1)

    refused(owner.post("/v1/executions", PROGRAM), 402, "quota_exceeded")
    Workbench().run_all()

    assert [owner.look(pk)["status"] for pk in shown] == ["SUCCEEDED"] * 4
    assert UsagePeriod.objects.get().runs == 4


def test_an_override_that_expires_takes_its_room_back(owner: Caller, clock: Clock) -> None:
    allow(monthly_runs=100, max_concurrency=4, max_queued=0)
    Override.objects.filter(name="max_concurrency").update(expires_at=clock.at + timedelta(hours=1))
    allow(max_queued=0)
    for _ in range(4):
        owner.submit()
    refused(owner.post("/v1/executions", PROGRAM), 429, "queue_full")
    clock.move(hours=2)
    owner.submit()  # the plan's five
    refused(owner.post("/v1/executions", PROGRAM), 429, "queue_full")
