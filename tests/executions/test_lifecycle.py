"""Claims, leases, fencing: what happens when two believe that a run is theirs."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account, UsageRecord
from executions import lifecycle
from executions.models import Execution, Status
from executions.runner import job_of
from sandbox.errors import ImageMissing, RunCancelled, SandboxLost
from sandbox.fake import FakeEvaluator, result
from sandbox.job import Job
from sandbox.result import Result, Stream
from sandbox.verdict import Verdict
from tests.cast import Caller, Workbench, allow, at_once

pytestmark = pytest.mark.django_db(transaction=True)

ME, OTHER = uuid.uuid4(), uuid.uuid4()


def claimed(owner: Caller, *, by: uuid.UUID = ME) -> Execution:
    claim = lifecycle.claim(uuid.UUID(owner.submit()["executionId"]), worker_id=by)
    assert claim is not None
    return claim


def expire(claim: Execution) -> None:
    Execution.objects.filter(pk=claim.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def verdict(claim: Execution, stdout: bytes = b"") -> Result:
    return result(job_of(claim), stdout=stdout)


def test_twenty_workers_claim_and_one_has_it(owner: Caller) -> None:
    pk = uuid.UUID(owner.submit()["executionId"])

    claims = at_once([lambda: lifecycle.claim(pk, worker_id=uuid.uuid4())] * 20)

    assert sum(claim is not None for claim in claims) == 1
    assert Execution.objects.get().attempts == 1


def test_control_looking_before_claiming_lets_several_through(owner: Caller) -> None:
    pk = uuid.UUID(owner.submit()["executionId"])

    def naive() -> bool:
        row = Execution.objects.get(pk=pk)
        if row.status != Status.QUEUED:
            return False
        row.status, row.attempts, row.started_at = Status.RUNNING, row.attempts + 1, timezone.now()
        row.worker_id, row.lease_until, row.send_after = uuid.uuid4(), timezone.now(), None
        row.save()
        return True

    # All have looked before one has saved.
    assert sum(at_once([naive] * 20)) > 1


def test_what_is_not_admitted_cannot_be_claimed(owner: Caller) -> None:
    allow(max_concurrency=0)
    assert lifecycle.claim(uuid.UUID(owner.submit()["executionId"]), worker_id=ME) is None


def test_nothing_of_a_suspended_account_starts(owner: Caller) -> None:
    pk = uuid.UUID(owner.submit()["executionId"])
    Account.objects.update(suspended_at=timezone.now())
    assert lifecycle.claim(pk, worker_id=ME) is None
    Account.objects.update(suspended_at=None)
    assert lifecycle.claim(pk, worker_id=ME) is not None


def test_an_old_attempt_can_write_nothing(owner: Caller) -> None:
    old = claimed(owner)
    expire(old)
    assert lifecycle.take_back(lifecycle.expired()) == 1
    new = lifecycle.claim(old.pk, worker_id=OTHER)
    assert new is not None
    assert new.attempts == 2

    assert not lifecycle.finish(old, verdict(old, b"old"), passed=None)
    assert not lifecycle.cancelled(old)
    assert not lifecycle.requeue_or_fail(old, code="x", retryable=False)
    assert Execution.objects.get().status == Status.RUNNING

    assert lifecycle.finish(new, verdict(new, b"new"), passed=None)
    row = Execution.objects.get()
    assert (row.status, bytes(row.stdout), row.attempts) == (Status.SUCCEEDED, b"new", 2)
    assert UsageRecord.objects.count() == 1


def test_an_old_attempt_cannot_finish_what_waits_for_its_next_one(owner: Caller) -> None:
    old = claimed(owner)
    expire(old)
    lifecycle.take_back(lifecycle.expired())

    assert not lifecycle.finish(old, verdict(old), passed=None)
    assert Execution.objects.get().status == Status.QUEUED


def test_the_same_claim_finishes_once(owner: Caller) -> None:
    claim = claimed(owner)

    assert sorted(at_once([lambda: lifecycle.finish(claim, verdict(claim), passed=None)] * 10)) == [False] * 9 + [True]
    assert UsageRecord.objects.count() == 1


def test_a_lease_that_is_renewed_is_not_taken_back(owner: Caller) -> None:
    claim = claimed(owner)
    expire(claim)
    assert lifecycle.renew([(claim.pk, 1)], worker_id=ME) == {(claim.pk, 1)}
    assert lifecycle.take_back(lifecycle.expired()) == 0


def test_a_worker_renews_only_what_is_its_own(owner: Caller) -> None:
    claim = claimed(owner, by=OTHER)
    assert lifecycle.renew([(claim.pk, 1)], worker_id=ME) == set()


def test_after_three_attempts_it_is_our_fault_and_costs_nothing(owner: Caller) -> None:
    claim = claimed(owner)
    for attempt in (1, 2, 3):
        expire(claim)
        lifecycle.take_back(lifecycle.expired())
        if attempt < 3:
            next_claim = lifecycle.claim(claim.pk, worker_id=OTHER)
            assert next_claim is not None
            assert next_claim.attempts == attempt + 1

    shown = owner.look(str(claim.pk))
    assert (shown["status"], shown["attempts"]) == ("INTERNAL_ERROR", 3)
    assert shown["error"]["code"] == "worker_lost"
    assert str(uuid.UUID(shown["error"]["id"])) == shown["error"]["id"]
    assert (shown["stdout"], shown["stderr"]) == ("", "")
    assert not UsageRecord.objects.exists()


def test_a_failure_of_ours_is_tried_three_times(owner: Caller) -> None:
    def lose(fake: FakeEvaluator, job: Job) -> Result:
        raise SandboxLost("gone")

    bench = Workbench(lose)
    shown = owner.submit(expectedStdout="x")
    bench.run_all()

    assert len(bench.fake.jobs) == 3
    finished = owner.look(shown["executionId"])
    assert (finished["status"], finished["error"]["code"]) == ("INTERNAL_ERROR", "sandbox_lost")
    assert finished["passed"] is None
    assert finished["phase"] is None


def test_a_failure_that_another_attempt_cannot_mend_is_not_tried_again(owner: Caller) -> None:
    def miss(fake: FakeEvaluator, job: Job) -> Result:
        raise ImageMissing("not here")

    bench = Workbench(miss)
    owner.submit()
    bench.run_all()
    assert len(bench.fake.jobs) == 1
    assert Execution.objects.get().error_code == "image_missing"


def test_a_bug_of_ours_ends_the_row_and_not_the_thread(owner: Caller) -> None:
    def crash(fake: FakeEvaluator, job: Job) -> Result:
        raise ZeroDivisionError("a bug")

    Workbench(crash)
    owner.submit()
    Workbench(crash).run_all()
    assert Execution.objects.get().error_code == "unexpected"


def test_a_second_attempt_that_works_is_a_verdict_like_any_other(owner: Caller) -> None:
    def once(fake: FakeEvaluator, job: Job) -> Result:
        if len(fake.jobs) == 1:
            raise SandboxLost("gone")
        return result(job, stdout=b"fine")

    shown = owner.submit()
    Workbench(once).run_all()
    finished = owner.look(shown["executionId"])
    assert (finished["status"], finished["attempts"], finished["stdout"]) == ("SUCCEEDED", 2, "fine")


def test_a_result_that_cannot_be_stored_does_not_leave_the_row_running(owner: Caller) -> None:
    def absurd(fake: FakeEvaluator, job: Job) -> Result:
        made = result(job, exit_code=None)
        return Result(Verdict.RUNTIME_ERROR, made.phase, None, None, "SIG\0" + "X" * 100, made.runtime)

    owner.submit()
    Workbench(absurd).run_all()
    assert Execution.objects.get().status == Status.INTERNAL_ERROR


@pytest.mark.parametrize("output", [b"\0", b"a\0b\xff", bytes(range(256)), b"\xed\xa0\x80", "é\U0001f600".encode()])
def test_every_output_is_stored_to_the_byte(owner: Caller, output: bytes) -> None:
    import base64  # noqa: PLC0415

    shown = owner.submit()
    Workbench(lambda fake, job: result(job, stdout=output)).run_all()

    exact = owner.look(shown["executionId"], "?encoding=base64")
    assert base64.b64decode(exact["stdout"]) == output
    assert exact["outputLossy"] is False
    text = owner.look(shown["executionId"])
    assert text["stdout"] == output.decode("utf-8", "replace")
    assert text["outputLossy"] is (text["stdout"].encode() != output)
    assert text["stdoutBytes"] == len(output)


def test_what_was_cut_is_told(owner: Caller) -> None:
    def flood(fake: FakeEvaluator, job: Job) -> Result:
        made = result(job)
        return Result(
            Verdict.OUTPUT_LIMIT, made.phase, None, None, None, made.runtime, Stream(b"xx", 5), Stream(b"", 0)
        )

    shown = owner.submit(expectedStdout="xx")
    Workbench(flood).run_all()
    finished = owner.look(shown["executionId"])
    assert (finished["stdout"], finished["stdoutBytes"], finished["stdoutTruncated"]) == ("xx", 5, True)
    assert finished["stderrTruncated"] is False
    assert finished["passed"] is False


def test_a_cancelled_run_counts_because_it_had_started(owner: Caller) -> None:
    def stop(fake: FakeEvaluator, job: Job) -> Result:
        raise RunCancelled

    shown = owner.submit()
    Workbench(stop).run_all()
    assert owner.look(shown["executionId"])["status"] == "CANCELLED"
    assert UsageRecord.objects.count() == 1


def test_taking_back_what_is_to_be_cancelled_cancels_it(owner: Caller) -> None:
    claim = claimed(owner)
    lifecycle.cancel(claim.pk)
    lifecycle.take_back(Q(worker_id=ME))
    assert Execution.objects.get().status == Status.CANCELLED


def test_two_sweeps_at_once_take_a_row_back_once(owner: Caller) -> None:
    for _ in range(5):
        expire(claimed(owner))

    assert sum(at_once([lambda: lifecycle.take_back(lifecycle.expired())] * 8)) == 5
    assert set(Execution.objects.values_list("attempts", flat=True)) == {1}


BROKEN: dict[str, dict[str, Any]] = {
    "running without a lease": {"lease_until": None},
    "running without a worker": {"worker_id": None},
    "finished and running": {"finished_at": timezone.now()},
    "an unknown status": {"status": "DONE"},
    "an internal error without a code": {
        "status": "INTERNAL_ERROR",
        "finished_at": timezone.now(),
        "worker_id": None,
        "lease_until": None,
    },
    "a verdict without an end": {"status": "SUCCEEDED", "worker_id": None, "lease_until": None},
    "a fourth attempt": {"attempts": 4},
    "exit code and signal": {"exit_code": 1, "signal": "SIGKILL"},
    "a key without a fingerprint": {"idempotency_key": "k"},
    "erased with a program": {"erased_at": timezone.now()},
    "a phase without a verdict": {"phase": "run"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_database_holds_no_state_that_makes_no_sense(owner: Caller, name: str) -> None:
    claim = claimed(owner)
    with pytest.raises(IntegrityError), transaction.atomic():
        Execution.objects.filter(pk=claim.pk).update(**BROKEN[name])
