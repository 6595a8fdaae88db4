"""Tells who waits that something happened: in the transaction that makes it happen, so never too early."""

from django.db import connection, transaction

from executions import dispatch
from executions.batches import ending
from executions.models import Execution
from executions.webhooks import outbox

FINISHED = "codeforge_finished"
CANCEL = "codeforge_cancel"


def announce_finished(execution: Execution) -> None:
    """Wake the requests that wait for it, tell the account's servers, and give its slot to the account's next."""
    account_id = execution.account_id
    _notify(FINISHED, str(execution.pk))
    if execution.batch_id is None:
        outbox.enqueue(account_id=account_id, event="execution.finished", subject_id=execution.pk)
    else:
        # Whoever waits for the batch looks whether this was its last. The runs of a batch are not told one by one:
        # an evaluation may have fifty thousand.
        _notify(FINISHED, str(execution.batch_id))
        ending.notice(account_id=account_id, batch_id=execution.batch_id)
    # What ended has ended, also when the next one cannot be admitted just now: the sweep will.
    transaction.on_commit(lambda: dispatch.admit(account_id), robust=True)


def announce_cancel(execution: Execution) -> None:
    """Tell the worker that runs it to stop."""
    _notify(CANCEL, str(execution.pk))


def _notify(channel: str, payload: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [channel, payload])
