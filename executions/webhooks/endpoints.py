"""Making, changing and removing endpoints; and the one place where an account's view is cut out of their tables."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.models import Account
from codeforge.errors import FieldError, IdempotencyKeyReused, InvalidRequest, NotFound
from executions.webhooks import secrets
from executions.webhooks.addresses import Refused, read_url, resolve
from executions.webhooks.models import WebhookDelivery, WebhookEndpoint

MAX_ENDPOINTS = 20
FORMER_SIGNS_FOR = timedelta(days=1)


def create(
    account: Account,
    *,
    url: str,
    events: Sequence[str],
    description: str = "",
    idempotency_key: str | None = None,
    fingerprint: bytes | None = None,
) -> tuple[WebhookEndpoint, str]:
    """A new endpoint and its secret, which is not shown again. `InvalidRequest` names the field.

    A repeated key gives the endpoint that it has made, and, because the first answer may have been lost, its secret.
    `IdempotencyKeyReused` when it came with something else.
    """
    try:
        resolve(read_url(url))
    except Refused as refused:
        raise InvalidRequest([FieldError("url", str(refused))]) from None
    secret = secrets.make_secret()
    with transaction.atomic():
        # Whoever makes two at once is counted one after the other.
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if idempotency_key is not None and (earlier := all_of(account).filter(idempotency_key=idempotency_key).first()):
            if earlier.fingerprint is None or bytes(earlier.fingerprint) != fingerprint:
                raise IdempotencyKeyReused
            return earlier, secrets.unlock(earlier.secret)
        if all_of(account).count() >= MAX_ENDPOINTS:
            raise InvalidRequest([FieldError("url", f"An account may have {MAX_ENDPOINTS} endpoints: remove one.")])
        endpoint = WebhookEndpoint.objects.create(
            account=account,
            idempotency_key=idempotency_key,
            fingerprint=None if idempotency_key is None else fingerprint,
            url=url,
            events=sorted(set(events)),
            description=description,
            secret=secrets.lock(secret),
            created_at=timezone.now(),
        )
    return endpoint, secret


def rotate(endpoint: WebhookEndpoint) -> str:
    """A new secret. For a day the former one signs as well, so that no receiver has to change at that very moment."""
    secret = secrets.make_secret()
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(
        former_secret=F("secret"), secret=secrets.lock(secret), former_until=timezone.now() + FORMER_SIGNS_FOR
    )
    return secret


def remove(endpoint: WebhookEndpoint) -> None:
    """Nothing more is sent to it, and its secrets are gone."""
    now = timezone.now()
    with transaction.atomic():
        WebhookEndpoint.objects.filter(pk=endpoint.pk, removed_at=None).update(
            removed_at=now, secret=b"", former_secret=b"", idempotency_key=None, fingerprint=None
        )
        WebhookDelivery.objects.filter(endpoint=endpoint, state=WebhookDelivery.State.PENDING).update(
            state=WebhookDelivery.State.FAILED, next_attempt_at=None, leased_until=None, ended_at=now
        )


def all_of(account: Account) -> QuerySet[WebhookEndpoint]:
    return WebhookEndpoint.objects.filter(account=account, removed_at=None).order_by("created_at", "pk")


def get_for(account: Account, endpoint_id: uuid.UUID) -> WebhookEndpoint:
    """The account's endpoint. `NotFound` for what is not there, was removed, or is somebody else's."""
    endpoint = all_of(account).filter(pk=endpoint_id).first()
    if endpoint is None:
        raise NotFound
    return endpoint


def delivery_for(account: Account, endpoint_id: uuid.UUID, delivery_id: uuid.UUID) -> WebhookDelivery:
    """A delivery to an endpoint of the account, with it; `NotFound` otherwise."""
    endpoint = get_for(account, endpoint_id)
    delivery = endpoint.deliveries.filter(pk=delivery_id).first()
    if delivery is None:
        raise NotFound
    delivery.endpoint = endpoint
    return delivery


def deliveries_of(endpoint: WebhookEndpoint, *, limit: int) -> list[WebhookDelivery]:
    """The newest, each with its attempts."""
    return list(endpoint.deliveries.order_by("-created_at", "-pk").prefetch_related("tries")[:limit])
