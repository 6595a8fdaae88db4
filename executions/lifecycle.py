"""THE ONLY WRITER of `Execution.status`. Theory of operation:

    QUEUED ──claim──► RUNNING ──finish──► a verdict
      │ ▲                │ └───cancelled─► CANCELLED
      │ └─requeue_or_fail┴────────────────► INTERNAL_ERROR, after three attempts
      └────cancel─────────────────────────► CANCELLED

    RUNNING ──claim_again──► RUNNING: a new attempt, by the same worker

Several workers, the sweep and customers act on a row at once, and any of them may die between two steps. So:

- Every move is guarded: it names the state that it starts from, and whoever finds another state was too late and does
  nothing. A claim is one UPDATE whose count says who won.
- A claim is a lease that its worker renews. When the lease has run out, the row is taken back and somebody else may
  claim it. ``attempts`` counts the claims and is the fencing token: a worker that was only slow, and comes back after
  that, holds an old number and can write nothing.
- What has to happen together is one transaction: the verdict, its outputs, the usage record, the wake-up.
- The clock is the database's, so that workers need not agree on the time.
"""

import logging
import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce, Now

from accounts.models import Account
from accounts.usage import record_run
from codeforge.errors import AlreadyFinished
from executions import dispatch, notify
from executions.models import MAX_ATTEMPTS, UNFINISHED, Execution, Status
from sandbox.result import Result

logger = logging.getLogger(__name__)

ClaimId = tuple[uuid.UUID, int]  # an execution, and the attempt that was claimed

LEASE = timedelta(seconds=15)
_INSERTED_TOGETHER = 200
# The second attempt follows at once; before the third, whatever is wrong gets a moment to pass.
_PAUSE_BEFORE_LAST_ATTEMPT = timedelta(seconds=5)

# What DELETE leaves of a row.
_ERASED: dict[str, Any] = {
    "source": "",
    "files": [],
    "stdin": b"",
    "args": [],
    "expected_stdout": None,
    "tests": None,
    "test_results": [],
    "metadata": {},
    "stdout": b"",
    "stderr": b"",
    "compile_stdout": b"",
    "compile_stderr": b"",
    "idempotency_key": None,
    "fingerprint": None,
}


def create(execution: Execution) -> None:
    """Insert a new row: queued, and without a slot."""
    execution.status = Status.QUEUED
    execution.save(force_insert=True)


def create_many(executions: Sequence[Execution]) -> None:
    """Insert new rows, a few hundred in a statement: the triggers that count them run once for each.

    They keep their order: each was created a microsecond after the one before.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT transaction_timestamp()")
        (now,) = cursor.fetchone()
    for number, execution in enumerate(executions):
        execution.status = Status.QUEUED
        execution.created_at = now + timedelta(microseconds=number)
    Execution.objects.bulk_create(executions, batch_size=_INSERTED_TOGETHER)


def claim(execution_id: uuid.UUID, *, worker_id: uuid.UUID) -> Execution | None:
    """Take an admitted execution for a worker. None when somebody else has it, or it is not to be run."""
    active = Account.objects.filter(pk=OuterRef("account_id"), suspended_at=None)
    claimed = Execution.objects.filter(
        # Not a join: Django would turn that into a subquery, which is not looked at again after waiting for the row.
        Exists(active),
        pk=execution_id,
        status=Status.QUEUED,
        admitted_at__isnull=False,
        attempts__lt=MAX_ATTEMPTS,
    ).update(
        status=Status.RUNNING,
        attempts=F("attempts") + 1,
        worker_id=worker_id,
        lease_until=Now() + LEASE,
        started_at=Now(),
    )
    if not claimed:
        return None
    return Execution.objects.filter(pk=execution_id, status=Status.RUNNING, worker_id=worker_id).first()


def renew(claims: Collection[ClaimId], *, worker_id: uuid.UUID) -> set[ClaimId]:
    """Renew the leases of a worker's claims. Gives those that are to go on: still held, and not to be cancelled."""
    held = Execution.objects.filter(pk__in={pk for pk, _ in claims}, status=Status.RUNNING, worker_id=worker_id)
    held.update(lease_until=Now() + LEASE)
    return set(held.filter(cancel_requested_at=None).values_list("pk", "attempts")) & set(claims)


def claim_again(claim: Execution) -> Execution | None:
    """The same worker runs it once more: a new attempt, after which the old one can write nothing. None: it lost it."""
    again = Execution.objects.filter(
        pk=claim.pk, status=Status.RUNNING, attempts=claim.attempts, attempts__lt=MAX_ATTEMPTS
    ).update(attempts=F("attempts") + 1)
    return Execution.objects.filter(pk=claim.pk, attempts=claim.attempts + 1).first() if again else None


def finish(
    claim: Execution,
    result: Result,
    *,
    passed: bool | None,
    failure: str | None = None,
    test_results: Sequence[Mapping[str, Any]] = (),
) -> bool:
    """Write a verdict with everything that belongs to it. False when the claim is no longer the latest."""
    with transaction.atomic():
        row = _held(claim)
        if row is None:
            return False
        values = _values(result)
        if claim.tests_total is not None:
            values["tests_passed"] = sum(test["passed"] for test in test_results)
        if row.erased_at is None:
            values |= _outputs(result) | {"passed": passed, "failure": failure, "test_results": list(test_results)}
        _end(row, Status(result.verdict.value), **values)
        _count(row, result.usage.cpu_time_ms, result.usage.wall_time_ms)
    return True


def cancelled(claim: Execution) -> bool:
    """The worker has stopped the run, as asked. It had started, so it counts."""
    with transaction.atomic():
        row = _held(claim)
        if row is None:
            return False
        _end(row, Status.CANCELLED)
        _count(row, 0, 0)
    return True


def requeue_or_fail(claim: Execution, *, code: str, retryable: bool) -> bool:
    """We failed: another attempt, or `INTERNAL_ERROR` when that is no use. Never counts."""
    with transaction.atomic():
        row = _held(claim)
        if row is None:
            return False
        _give_back(row, code=code, retryable=retryable)
    return True


def take_back(rows: Q) -> int:
    """Take running executions from workers that are gone. ``rows`` says which; how many it were is returned."""
    taken = 0
    with transaction.atomic():
        found = Execution.objects.select_for_update(skip_locked=True, no_key=True).filter(rows, status=Status.RUNNING)
        for row in _light(found).order_by("account_id", "pk")[:500]:
            logger.warning("Taking back from a lost worker", extra={"execution": row.pk, "attempt": row.attempts})
            _give_back(row, code="worker_lost", retryable=True)
            taken += 1
    return taken


def expired() -> Q:
    """Which rows have a lease that ran out."""
    return Q(lease_until__lt=Now())


def cancel(execution_id: uuid.UUID) -> None:
    """Stop an execution: at once when it is queued, else as soon as its worker hears of it. `AlreadyFinished`."""
    with transaction.atomic():
        row = _light(Execution.objects.select_for_update(no_key=True)).get(pk=execution_id)
        if row.is_finished:
            raise AlreadyFinished
        _stop(row)


def cancel_batch(batch_id: uuid.UUID) -> None:
    """Stop what of a batch has not ended, a few hundred at a time. What has is left as it is."""
    while True:
        with transaction.atomic():
            rows = _light(Execution.objects.select_for_update(no_key=True)).filter(
                batch_id=batch_id, status__in=UNFINISHED, cancel_requested_at=None
            )
            stopped = list(rows.order_by("pk")[:_INSERTED_TOGETHER])
            for row in stopped:
                _stop(row)
        if len(stopped) < _INSERTED_TOGETHER:
            return


def erase(execution_id: uuid.UUID) -> None:
    """Remove what was submitted and what came of it, for ever. An unfinished one is cancelled.

    Nothing of it is stored later. The row stays, for the books, and its Idempotency-Key is free again.
    """
    with transaction.atomic():
        row = _light(Execution.objects.select_for_update(no_key=True)).get(pk=execution_id)
        if not row.is_finished:
            _stop(row)
        Execution.objects.filter(pk=row.pk).update(erased_at=Now(), **_ERASED)


# --- Inside one transaction, with the row locked ---------------------------------------------------------------------


def _light(rows: QuerySet[Execution]) -> QuerySet[Execution]:
    return rows.only("account_id", "batch_id", "language", "status", "attempts", "cancel_requested_at", "erased_at")


def _held(claim: Execution) -> Execution | None:
    """The row, locked, if the claim is still the latest."""
    rows = Execution.objects.select_for_update(no_key=True)
    return _light(rows).filter(pk=claim.pk, status=Status.RUNNING, attempts=claim.attempts).first()


def _stop(row: Execution) -> None:
    if row.status == Status.QUEUED:
        _end(row, Status.CANCELLED)
    else:
        Execution.objects.filter(pk=row.pk).update(cancel_requested_at=Coalesce("cancel_requested_at", Now()))
        notify.announce_cancel(row)


def _end(row: Execution, status: Status, **values: Any) -> None:
    """To a terminal status. Frees the slot, wakes whoever waits."""
    moved = Execution.objects.filter(pk=row.pk, status__in=UNFINISHED).update(
        status=status, finished_at=Now(), worker_id=None, lease_until=None, send_after=None, **values
    )
    assert moved == 1, "The row was locked and unfinished."
    notify.announce_finished(row)


def _give_back(row: Execution, *, code: str, retryable: bool) -> None:
    if row.cancel_requested_at is not None:
        _end(row, Status.CANCELLED)
    elif retryable and row.attempts < MAX_ATTEMPTS:
        at_once = row.attempts + 1 < MAX_ATTEMPTS
        pause = dispatch.SENT_AGAIN_AFTER if at_once else _PAUSE_BEFORE_LAST_ATTEMPT
        Execution.objects.filter(pk=row.pk).update(
            status=Status.QUEUED, worker_id=None, lease_until=None, started_at=None, send_after=Now() + pause
        )
        if at_once:
            dispatch.send_on_commit([(row.pk, row.language)])
    else:
        error_id = uuid.uuid4()
        logger.error("INTERNAL_ERROR %s, error id %s", code, error_id, extra={"execution": row.pk})
        _end(row, Status.INTERNAL_ERROR, error_code=code, error_id=error_id)


def _count(row: Execution, cpu_time_ms: int | None, wall_time_ms: int | None) -> None:
    record_run(
        account_id=row.account_id,
        execution_id=row.pk,
        cpu_time_ms=cpu_time_ms or 0,
        wall_time_ms=wall_time_ms or 0,
    )


def _values(result: Result) -> dict[str, Any]:
    compilation = result.compilation
    return {
        "phase": result.phase.value,
        "exit_code": result.exit_code,
        "signal": result.signal,
        "limit_exceeded": result.limit_exceeded and result.limit_exceeded.value,
        "stdout_bytes": result.stdout.total,
        "stderr_bytes": result.stderr.total,
        "stdout_truncated": result.stdout.truncated,
        "stderr_truncated": result.stderr.truncated,
        "compiled": compilation is not None,
        "compile_exit_code": compilation and compilation.exit_code,
        "compile_cached": compilation is not None and compilation.cached,
        "compile_time_ms": compilation.time_ms if compilation else result.usage.compile_time_ms,
        "wall_time_ms": result.usage.wall_time_ms,
        "cpu_time_ms": result.usage.cpu_time_ms,
        "memory_peak_kb": result.usage.memory_peak_kb,
        "start_ms": result.usage.start_ms,
        "runtime_version": result.runtime.version,
        "runtime_image": result.runtime.image,
        "sandbox": result.runtime.sandbox,
        "sandbox_version": result.runtime.sandbox_version,
    }


def _outputs(result: Result) -> dict[str, Any]:
    compilation = result.compilation
    return {
        "stdout": result.stdout.content,
        "stderr": result.stderr.content,
        "compile_stdout": compilation.stdout.content if compilation else b"",
        "compile_stderr": compilation.stderr.content if compilation else b"",
    }
