"""Puts down what is to be delivered, in the transaction that makes it happen."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from celery import current_app
from django.db import transaction
from django.utils import timezone

from executions import dispatch
from executions.webhooks.models import WebhookDelivery, WebhookEndpoint

KEPT_FOR = timedelta(days=30)
_BATCH = 5_000


def enqueue(*, account_id: int, event: str, subject_id: uuid.UUID) -> None:
    """One delivery for each endpoint of the account that wants the event. Inside of the caller's transaction."""
    wanting = WebhookEndpoint.objects.filter(account_id=account_id, removed_at=None, events__contains=[event])
    ids = list(wanting.values_list("pk", flat=True))
    if ids:
        put([_new(pk, event, subject_id) for pk in ids])


def is_wanted(*, account_id: int, events: Sequence[str]) -> bool:
    """Whether an endpoint of the account wants one of the events."""
    wanting = WebhookEndpoint.objects.filter(account_id=account_id, removed_at=None, events__overlap=list(events))
    return wanting.exists()


def enqueue_for(endpoint: WebhookEndpoint, *, event: str) -> WebhookDelivery:
    """A delivery to this endpoint, about nothing: a test."""
    delivery = _new(endpoint.pk, event, None)
    put([delivery])
    return delivery


def put(deliveries: list[WebhookDelivery]) -> None:
    WebhookDelivery.objects.bulk_create(deliveries)
    wake_on_commit()


def wake_on_commit() -> None:
    transaction.on_commit(lambda: dispatch.reach_broker(_wake))


def remove_old() -> int:
    """Forget deliveries that are older than anybody looks at."""
    old = WebhookDelivery.objects.filter(created_at__lt=timezone.now() - KEPT_FOR)
    ids = list(old.exclude(state=WebhookDelivery.State.PENDING).order_by("created_at").values_list("pk")[:_BATCH])
    WebhookDelivery.objects.filter(pk__in=[pk for (pk,) in ids]).delete()
    return len(ids)


def _wake() -> None:
    current_app.send_task("webhooks.deliver", queue="maintenance", expires=5)


def _new(endpoint_id: uuid.UUID, event: str, subject_id: uuid.UUID | None) -> WebhookDelivery:
    now = timezone.now()
    return WebhookDelivery(
        endpoint_id=endpoint_id,
        event=event,
        subject_id=subject_id,
        created_at=now,
        round_began_at=now,
        next_attempt_at=now,
    )
