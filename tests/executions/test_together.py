"""Everything at once: submissions, workers that finish and fail, cancels, erasures and sweeps, over several accounts.

No order of locks may let two of them wait for each other, and in the end every count is what counting gives.
"""

import contextlib
import random
import uuid
from collections.abc import Callable

import pytest
from django.db.models import Q

from accounts.models import Account, UsagePeriod, UsageRecord
from codeforge.errors import AlreadyFinished
from executions import dispatch, lifecycle, submission
from executions.models import MAX_ATTEMPTS, Execution, QueueState, Status
from executions.runner import job_of
from executions.sweep import sweep
from sandbox.fake import result
from tests.cast import PROGRAM, allow, at_once

pytestmark = pytest.mark.django_db(transaction=True)

WORKER = uuid.uuid4()
THREADS = 12
STEPS = 25


def work(account: Account, chance: random.Random) -> None:
    """What a worker does with one execution of the account, whatever comes of it."""
    waiting = Execution.objects.filter(account=account, status=Status.QUEUED, admitted_at__isnull=False)
    pk = waiting.values_list("pk", flat=True).first()
    claim = lifecycle.claim(pk, worker_id=WORKER) if pk else None
    if claim is None:
        return
    luck = chance.random()
    if luck < 0.7:
        lifecycle.finish(claim, result(job_of(claim)), passed=None)
    elif luck < 0.9:
        lifecycle.requeue_or_fail(claim, code="test", retryable=True)


def interfere(account: Account, chance: random.Random) -> None:
    execution = Execution.objects.filter(account=account).order_by("?").first()
    if execution is not None:
        with contextlib.suppress(AlreadyFinished):
            chance.choice([lifecycle.cancel, lifecycle.erase])(execution.pk)


def mend(account: Account, chance: random.Random) -> None:
    sweep()
    dispatch.admit(account.pk)
    lifecycle.take_back(Q(worker_id=WORKER))


def submit(account: Account, chance: random.Random) -> None:
    submission.submit(account=account, body=dict(PROGRAM), idempotency_key=None)


def test_nothing_waits_for_ever_and_every_count_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "send", lambda messages: None)
    accounts = [Account.objects.create(name=str(number)) for number in range(4)]
    allow(max_concurrency=3, monthly_runs=None, max_queued=10_000)

    def live(seed: int) -> Callable[[], None]:
        chance = random.Random(seed)

        def steps() -> None:
            for _ in range(STEPS):
                (step,) = chance.choices([submit, work, interfere, mend], weights=[4, 4, 1, 1])
                step(chance.choice(accounts), chance)

        return steps

    at_once([live(seed) for seed in range(THREADS)])

    for account in accounts:
        unfinished = Execution.objects.filter(account=account, status__in=[Status.QUEUED, Status.RUNNING])
        waiting, admitted = unfinished.filter(admitted_at=None).count(), unfinished.exclude(admitted_at=None).count()
        state = QueueState.objects.filter(account=account).values_list("waiting", "admitted").first() or (0, 0)
        assert state == (waiting, admitted)
        assert admitted <= 3
        assert not waiting or admitted == 3
        used = sum(UsagePeriod.objects.filter(account=account).values_list("runs", flat=True))
        assert used == UsageRecord.objects.filter(account=account).count()
    failed = Execution.objects.filter(status=Status.INTERNAL_ERROR)
    assert set(failed.values_list("attempts", flat=True)) <= {MAX_ATTEMPTS}
    assert not UsageRecord.objects.filter(execution_id__in=failed.values("pk")).exists()
    finished = Execution.objects.filter(status=Status.SUCCEEDED)
    assert UsageRecord.objects.filter(execution_id__in=finished.values("pk")).count() == finished.count()
