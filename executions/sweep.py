"""Puts right what crashes and lost messages left. Safe to run at any time, anywhere, several at once.

Beat drives it, and so does every worker (`Resident`): a beat that has died, or workers whose slots are all taken, must
not keep it from running. Whoever comes second to a row finds it locked or done.
"""

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import Case, DateTimeField, ExpressionWrapper, F, When
from django.db.models.functions import Now

from accounts.entitlements import entitlements
from executions import dispatch, lifecycle
from executions.models import Execution, QueueState, Status, Worker
from executions.versions import offered

logger = logging.getLogger(__name__)

_BATCH = 500
_LONGEST_PAUSE = timedelta(seconds=60)
# Longer than any lease: what such a worker ran has been taken back.
_WORKER_IS_GONE_AFTER = timedelta(seconds=60)
_WORKER_IS_FORGOTTEN_AFTER = timedelta(days=7)


def sweep() -> None:
    """Take back what lost workers ran, send again what nobody claimed, admit where a slot is free."""
    lifecycle.take_back(lifecycle.expired())
    free_unserved()
    send_again()
    admit_all()
    forget_workers()


def free_unserved() -> None:
    """Take the slots from what waits for a language that no worker runs any more: the account's others need them."""
    served = offered()
    if not served:
        return
    with transaction.atomic():
        stuck = Execution.objects.select_for_update(skip_locked=True, no_key=True).filter(
            status=Status.QUEUED, admitted_at__isnull=False
        )
        unserved = stuck.exclude(language__in=list(served)).order_by("account_id", "pk")
        ids = list(unserved.values_list("pk", flat=True)[:_BATCH])
        Execution.objects.filter(pk__in=ids).update(admitted_at=None, send_after=None)


def send_again() -> int:
    """Send those that were admitted and sent, and that no worker has claimed since. How many it were is returned.

    The broker may have lost the message; or the line is long, and then another message does no harm but is no help. So
    the pause doubles each time, to a minute.
    """
    with transaction.atomic():
        due = Execution.objects.select_for_update(skip_locked=True, no_key=True, of=("self",)).filter(
            status=Status.QUEUED, admitted_at__isnull=False, send_after__lt=Now(), account__suspended_at=None
        )
        messages = list(due.order_by("send_after").values_list("id", "language")[:_BATCH])
        age = ExpressionWrapper(Now() - F("admitted_at"), output_field=DateTimeField())
        Execution.objects.filter(pk__in=[pk for pk, _ in messages]).update(
            send_after=Case(
                When(admitted_at__lt=Now() - _LONGEST_PAUSE, then=Now() + _LONGEST_PAUSE),
                When(admitted_at__gt=Now() - dispatch.SENT_AGAIN_AFTER, then=Now() + dispatch.SENT_AGAIN_AFTER),
                default=Now() + age,
                output_field=DateTimeField(),
            )
        )
        dispatch.send_on_commit(messages)
    if messages:
        logger.info("Sent %d again that nobody had claimed.", len(messages))
    return len(messages)


def admit_all() -> None:
    """Fill free slots that nobody filled: the process that freed them died first, or a plan was changed."""
    waiting = QueueState.objects.filter(waiting__gt=0, account__suspended_at=None).select_related("account")
    for state in list(waiting.prefetch_related("account__overrides")):
        if dispatch.free_slots(state, entitlements(state.account)) > 0:
            dispatch.admit(state.account_id)


def forget_workers() -> None:
    Worker.objects.filter(stopped_at=None, seen_at__lt=Now() - _WORKER_IS_GONE_AFTER).update(stopped_at=Now())
    Worker.objects.filter(stopped_at__lt=Now() - _WORKER_IS_FORGOTTEN_AFTER).delete()
