"""Where a batch stands: counted from its executions, so there is nothing that could disagree with them."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Max
from django.db.models.functions import Now

from accounts.models import Account
from codeforge.errors import AlreadyFinished, NotFound
from executions import lifecycle, queries
from executions.models import UNFINISHED, Batch, Execution, Status


@dataclass(frozen=True, slots=True)
class State:
    """``counts`` by status; ``finished_at`` is the end of the last one, once all have ended."""

    counts: dict[str, int]
    status: str
    finished_at: datetime | None


def get_for(account: Account, batch_id: uuid.UUID) -> Batch:
    """The account's batch. `NotFound` for what is not there or somebody else's; those of evaluations are not shown."""
    batch = Batch.objects.filter(account=account, pk=batch_id, evaluation=None).first()
    if batch is None:
        raise NotFound
    return batch


def state_of(batch: Batch) -> State:
    rows = Execution.objects.filter(batch=batch)
    counts = dict(rows.values_list("status").annotate(number=Count("pk")).order_by("status"))
    if any(status in counts for status in UNFINISHED):
        only_waiting = set(counts) == {Status.QUEUED}
        return State(counts, "QUEUED" if only_waiting else "RUNNING", None)
    ended = rows.aggregate(ended=Max("finished_at"))["ended"]
    return State(counts, "CANCELLED" if batch.cancelled_at else "FINISHED", ended)


def cancel(batch: Batch) -> None:
    """Stop what has not ended. `AlreadyFinished` when all has."""
    if queries.batch_is_finished(batch.pk):
        raise AlreadyFinished
    with transaction.atomic():
        Batch.objects.filter(pk=batch.pk, cancelled_at=None).update(cancelled_at=Now())
    lifecycle.cancel_batch(batch.pk)
    batch.refresh_from_db()
