"""Notices that the last execution of a batch has ended, and has it told to the account's servers: once."""

import uuid

from executions.models import UNFINISHED, Batch, Evaluation, Execution
from executions.webhooks import outbox

BATCH_FINISHED = "batch.finished"
EVALUATION_FINISHED = "evaluation.finished"


def notice(*, account_id: int, batch_id: uuid.UUID) -> None:
    """In the transaction that ends one of its executions.

    Under the lock of the batch's row: the last two, ending at once, would each see the other unfinished, and nobody
    would be told. Accounts that want to hear of neither are spared the lock.
    """
    if not outbox.is_wanted(account_id=account_id, events=(BATCH_FINISHED, EVALUATION_FINISHED)):
        return
    Batch.objects.select_for_update(no_key=True).get(pk=batch_id)
    if Execution.objects.filter(batch_id=batch_id, status__in=UNFINISHED).exists():
        return
    evaluation_id = Evaluation.objects.filter(batch_id=batch_id).values_list("pk", flat=True).first()
    if evaluation_id is None:
        outbox.enqueue(account_id=account_id, event=BATCH_FINISHED, subject_id=batch_id)
    else:
        outbox.enqueue(account_id=account_id, event=EVALUATION_FINISHED, subject_id=evaluation_id)
