"""Accepts a batch, or refuses it: one lock, one look at quota and queue, one insert."""

import hmac
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from accounts.entitlements import entitlements
from accounts.models import Account
from codeforge.errors import IdempotencyKeyReused
from executions import dispatch, lifecycle
from executions.models import Batch, Execution
from executions.serializers import read_batch
from executions.submission import fingerprint_of, require_room

ROUTE = "POST /v1/batches"


@dataclass(frozen=True, slots=True)
class Accepted:
    """``replayed`` says that an earlier request with the same key made the batch."""

    batch: Batch
    replayed: bool


def submit(*, account: Account, body: Any, idempotency_key: str | None) -> Accepted:
    """Accept all of ``body``, or none. Raises as `executions.submission.submit`: then nothing was written."""
    fingerprint = fingerprint_of(body, ROUTE)
    if earlier := _earlier(account, idempotency_key, fingerprint):
        return Accepted(earlier, replayed=True)
    asked, metadata = read_batch(body, entitled=entitlements(account))
    with transaction.atomic():
        locked = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if earlier := _earlier(locked, idempotency_key, fingerprint):
            return Accepted(earlier, replayed=True)
        require_room(locked, entitlements(locked), number=len(asked))
        batch = Batch(account=locked, total=len(asked), metadata=metadata)
        if idempotency_key is not None:
            batch.idempotency_key, batch.fingerprint = idempotency_key, fingerprint
        batch.save(force_insert=True)
        lifecycle.create_many([Execution(account=locked, batch=batch, **values) for values in asked])
        dispatch.admit_locked(locked)
    return Accepted(batch, replayed=False)


def _earlier(account: Account, idempotency_key: str | None, fingerprint: bytes) -> Batch | None:
    if idempotency_key is None:
        return None
    batch = Batch.objects.filter(account=account, idempotency_key=idempotency_key).first()
    if batch is not None and not hmac.compare_digest(bytes(batch.fingerprint or b""), fingerprint):
        raise IdempotencyKeyReused
    return batch
