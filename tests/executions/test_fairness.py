"""Slots and turns, with a real worker process: from the database's own times."""

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest

from executions import dispatch
from executions.models import Execution, Status
from tests.cast import Caller, allow
from tests.many import copy
from tests.worker_process import Process, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def worker(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Process]:
    process = Process(tmp_path / "worker.log", concurrency=request.param)
    yield process
    process.stop()


@pytest.mark.parametrize("worker", [6], indirect=True)
def test_of_a_thousand_with_three_slots_never_more_than_three_run_and_all_end(owner: Caller, worker: Process) -> None:
    allow(max_concurrency=0, max_queued=2_000, monthly_runs=None)
    first = Execution.objects.get(pk=owner.submit()["executionId"])
    copy(first, number=999)
    allow(max_concurrency=3)
    dispatch.admit(owner.account.pk)

    def done() -> bool:
        return not Execution.objects.exclude(status=Status.SUCCEEDED).exists()

    until(done, worker.said, within_s=300)
    spans = list(Execution.objects.values_list("started_at", "finished_at"))
    # At the same moment, an end frees the slot that a start takes.
    moments = sorted([(end, -1) for _, end in spans] + [(start, 1) for start, _ in spans])
    assert max(accumulate(step for _, step in moments)) == 3
    assert Execution.objects.filter(attempts=1).count() == 1_000


@pytest.mark.parametrize("worker", [1], indirect=True)
def test_one_run_of_an_account_starts_before_the_next_four_of_one_that_has_queued_two_thousand(
    owner: Caller, stranger: Caller, worker: Process
) -> None:
    allow(max_concurrency=4, max_queued=10_000, monthly_runs=None)
    holds = owner.submit(source="hold")["executionId"]
    until(lambda: Execution.objects.get(pk=holds).status == Status.RUNNING, worker.said)
    allow(owner.account, max_concurrency=1)
    waiting = Execution.objects.get(pk=owner.submit()["executionId"])
    copy(waiting, number=1_999)
    allow(owner.account, max_concurrency=4)
    dispatch.admit(owner.account.pk)

    single = stranger.submit()["executionId"]
    owner.post(f"/v1/executions/{holds}/cancel")
    until(lambda: Execution.objects.get(pk=single).status == Status.SUCCEEDED, worker.said)

    started = Execution.objects.get(pk=single).started_at
    assert Execution.objects.filter(account=owner.account, started_at__lt=started).exclude(pk=holds).count() < 4
