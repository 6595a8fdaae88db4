"""Gives the free slots of an account to its oldest waiting executions, and wakes a worker for each.

An account has at most ``max_concurrency`` messages in the broker, so ten thousand rows of one never stand in front of
the first of another. How long the queue is makes no difference: the counts are kept (`QueueState`), and the oldest are
read from an index.
"""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta

from celery import current_app
from django.db import transaction
from django.db.models.functions import Now

from accounts.entitlements import Entitlements, entitlements
from accounts.models import Account
from executions.models import Execution, QueueState, Status
from executions.versions import offered

logger = logging.getLogger(__name__)

# A message that nobody acted on after this was lost, or waits in a long line; another does no harm.
SENT_AGAIN_AFTER = timedelta(seconds=10)
# Longer than the longest pause between two messages of an execution. Older ones are dropped unread by whoever comes.
_MESSAGE_EXPIRES_S = 120
# After a failure to reach the broker, nobody tries for this long: the sweep sends later what is not sent now.
_BROKER_REST_S = 5.0
_broker_rests_until = 0.0

Message = tuple[uuid.UUID, str]  # execution, language


def admit(account_id: int) -> None:
    """Fill the account's free slots. Cheap when nothing waits.

    The look without a lock loses no wake-up: whoever adds a waiting row, and whoever frees a slot, first changes the
    same `QueueState` row and then looks, so the later of the two sees the other's change.
    """
    if QueueState.objects.filter(account_id=account_id, waiting__gt=0).exists():
        with transaction.atomic():
            admit_locked(Account.objects.select_for_update(no_key=True).get(pk=account_id))


def admit_locked(account: Account) -> None:
    """`admit`, by a caller who holds the lock of the account's row."""
    if account.suspended_at is not None:
        return
    state = QueueState.objects.filter(account=account).first()
    if state is None or (free := free_slots(state, entitlements(account))) <= 0:
        return
    oldest = Execution.objects.select_for_update(skip_locked=True, no_key=True).filter(
        account=account, status=Status.QUEUED, admitted_at=None
    )
    if served := offered():
        # What waits for a language that no worker runs now would keep its slot until one does, and the others wait.
        oldest = oldest.filter(language__in=list(served))
    messages: list[Message] = list(oldest.order_by("created_at", "id").values_list("id", "language")[:free])
    Execution.objects.filter(pk__in=[pk for pk, _ in messages]).update(
        admitted_at=Now(), send_after=Now() + SENT_AGAIN_AFTER
    )
    send_on_commit(messages)


def free_slots(state: QueueState, entitled: Entitlements) -> int:
    """How many of those that wait may have a slot now. 0 or less: none."""
    if entitled.max_concurrency is None:
        return state.waiting
    return min(state.waiting, entitled.max_concurrency - state.admitted)


def send_on_commit(messages: Sequence[Message]) -> None:
    # Not a partial, and not robust=True: on Django 5.2 those two together still answer 500 when the broker is down.
    transaction.on_commit(lambda: send(messages))


def send(messages: Sequence[Message]) -> None:
    """One message for each. Never raises and never takes long: what cannot be sent now is sent by the sweep."""

    def send_all() -> None:
        for execution_id, language in messages:
            current_app.send_task(
                "executions.run", args=[str(execution_id)], queue=queue_of(language), expires=_MESSAGE_EXPIRES_S
            )

    reach_broker(send_all)


def reach_broker(send_all: Callable[[], None]) -> None:
    """Send messages that are only wake-ups. Never raises, and never takes long while the broker is away."""
    global _broker_rests_until  # noqa: PLW0603  one state per process, and a race only costs one more try
    if time.monotonic() < _broker_rests_until:
        return
    try:
        send_all()
    except Exception as error:  # noqa: BLE001  kombu, redis and socket errors, and whatever comes with their next release
        _broker_rests_until = time.monotonic() + _BROKER_REST_S
        logger.warning("The broker cannot be reached (%s); the sweep will send later.", type(error).__qualname__)


def queue_of(language: str) -> str:
    """The broker's queue of a language. By its queues a machine can be made to serve some languages only."""
    return f"executions.{language}"
