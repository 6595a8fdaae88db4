"""Accepts work, or refuses it: once, whatever the client does.

Everything that counts happens under the lock of the account's row. Without it, two requests would both see the last
free place, and fifty copies of one request would all see that its key is not used yet.
"""

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from accounts.entitlements import Entitlements, entitlements
from accounts.models import Account
from accounts.usage import current_period
from codeforge.errors import IdempotencyKeyReused, QueueFull, QuotaExceeded
from executions import dispatch, lifecycle, queries
from executions.models import Execution
from executions.serializers import read_execution

ROUTE = "POST /v1/executions"


@dataclass(frozen=True, slots=True)
class Accepted:
    """``replayed`` says that an earlier request with the same key made the execution."""

    execution: Execution
    replayed: bool


def submit(*, account: Account, body: Any, idempotency_key: str | None) -> Accepted:
    """Accept a program to run. ``body`` is the parsed JSON.

    A repeated key is answered before anything else is looked at: the plan, the month or the runtimes may have changed
    since, and the answer must not. Raises `IdempotencyKeyReused`, `InvalidRequest`, `LimitAbovePlan`, `QuotaExceeded`,
    `QueueFull`; then nothing was written and the key is free.
    """
    fingerprint = fingerprint_of(body)
    if earlier := _earlier(account, idempotency_key, fingerprint):
        return Accepted(earlier, replayed=True)
    values = read_execution(body, entitled=entitlements(account))
    with transaction.atomic():
        # Not a plain FOR UPDATE: that would make every finishing run, whose usage record points here, wait for us.
        locked = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if earlier := _earlier(locked, idempotency_key, fingerprint):
            return Accepted(earlier, replayed=True)
        require_room(locked, entitlements(locked))
        execution = Execution(account=locked, **values)
        if idempotency_key is not None:
            execution.idempotency_key, execution.fingerprint = idempotency_key, fingerprint
        lifecycle.create(execution)
        dispatch.admit_locked(locked)
    return Accepted(execution, replayed=False)


def fingerprint_of(body: Any, route: str = ROUTE) -> bytes:
    """SHA-256 over method, route and the body's content.

    Of the body as it was sent, before defaults are filled in, because those may change with the plan; but in one
    spelling: a client that builds the same request again may order its fields differently.
    """
    spelled = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(f"{route}\n{spelled}".encode()).digest()


def _earlier(account: Account, idempotency_key: str | None, fingerprint: bytes) -> Execution | None:
    """The execution that the key has made already."""
    if idempotency_key is None:
        return None
    execution = Execution.objects.filter(account=account, idempotency_key=idempotency_key).only("fingerprint").first()
    if execution is not None and not hmac.compare_digest(bytes(execution.fingerprint or b""), fingerprint):
        raise IdempotencyKeyReused
    return execution


def require_room(account: Account, entitled: Entitlements, *, number: int = 1) -> None:
    """Refuse when ``number`` more do not fit into the month's runs or into the queue. Under the account's lock."""
    load = queries.load_of(account)
    counted = load.used + load.unfinished
    if entitled.monthly_runs is not None and counted + number > entitled.monthly_runs:
        raise QuotaExceeded(used=counted, limit=entitled.monthly_runs, resets_at=current_period().end)
    if entitled.max_concurrency is None or entitled.max_queued is None:
        return
    too_many = load.unfinished + number - entitled.max_concurrency - entitled.max_queued
    if too_many > 0:
        retry_after_s = queries.seconds_until_ended(account, number=too_many)
        raise QueueFull(waiting=load.waiting, limit=entitled.max_queued, retry_after_s=retry_after_s)
