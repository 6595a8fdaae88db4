"""Claims what is due, sends it, and writes down what came of it. State moves by guarded UPDATEs only."""

import logging
from datetime import timedelta

from django.db import connection, transaction
from django.db.models import Count, F
from django.utils import timezone

from executions.webhooks import events, outgoing, secrets
from executions.webhooks.models import WebhookAttempt, WebhookDelivery
from executions.webhooks.outbox import wake_on_commit

logger = logging.getLogger(__name__)

# Far longer than one request may take: only who died loses it.
LEASE = timedelta(seconds=60)
# A server that is slow takes no more than this from the others.
AT_ONCE_PER_ENDPOINT = 2
# The pauses after the first, second … failure, together a little less than a day.
PAUSES = tuple(timedelta(seconds=seconds) for seconds in (5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800))
_KEPT_ANSWER = 8 * 1024

State = WebhookDelivery.State


def claim_next() -> WebhookDelivery | None:
    """The delivery that has been due the longest, of an endpoint that is not busy; with its endpoint."""
    now = timezone.now()
    leased = WebhookDelivery.objects.filter(leased_until__gt=now).order_by()
    busy = leased.values("endpoint").annotate(number=Count("pk")).filter(number__gte=AT_ONCE_PER_ENDPOINT)
    with transaction.atomic():
        due = WebhookDelivery.objects.select_for_update(skip_locked=True, no_key=True, of=("self",)).filter(
            state=State.PENDING,
            next_attempt_at__lte=now,
            endpoint__removed_at=None,
            endpoint__account__suspended_at=None,
        )
        due = due.exclude(endpoint__in=busy.values("endpoint")).select_related("endpoint")
        delivery = due.order_by("next_attempt_at", "pk").first()
        if delivery is None:
            return None
        WebhookDelivery.objects.filter(pk=delivery.pk).update(
            attempts=F("attempts") + 1,
            round_attempts=F("round_attempts") + 1,
            next_attempt_at=now + LEASE,
            leased_until=now + LEASE,
        )
        delivery.attempts += 1
        delivery.round_attempts += 1
    return delivery


def attempt(claim: WebhookDelivery) -> None:
    """Send it, once, and write down what came back."""
    started_at = timezone.now()
    try:
        body = events.body_of(claim)
        headers = headers_of(claim, body, timestamp=int(started_at.timestamp()))
    except events.SubjectGone:
        _record(claim, WebhookAttempt(error="What it tells of was erased or is no longer kept."), is_final=True)
        return
    except secrets.SecretLost:
        logger.exception("A secret cannot be read: has SECRET_KEY been changed?", extra={"endpoint": claim.endpoint_id})
        _record(claim, WebhookAttempt(error="The secret of the endpoint cannot be read: rotate it."))
        return
    # Nobody holds a connection of the database while a stranger's server takes its time.
    if not connection.in_atomic_block:
        connection.close()
    answer = outgoing.send(claim.endpoint.url, body, headers)
    made = WebhookAttempt(status=answer.status, answer=answer.body[:_KEPT_ANSWER], error=answer.error)
    made.took_ms = answer.took_ms
    _record(claim, made, is_success=answer.is_success)


def headers_of(claim: WebhookDelivery, body: bytes, *, timestamp: int) -> dict[str, str]:
    """As Standard Webhooks say; while a secret is being changed, signed with both."""
    endpoint, message_id = claim.endpoint, f"msg_{claim.pk.hex}"
    locked = [endpoint.secret]
    if endpoint.former_until is not None and endpoint.former_until > timezone.now():
        locked.append(endpoint.former_secret)
    signatures = [
        secrets.sign(secrets.unlock(one), message_id=message_id, timestamp=timestamp, body=body) for one in locked
    ]
    return {
        "Content-Type": "application/json",
        "User-Agent": "CodeForge-Webhooks/1",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(signatures),
    }


def redeliver(delivery: WebhookDelivery) -> None:
    """Send it once more, now, with another day of trying. What is being sent just now is left alone."""
    now = timezone.now()
    with transaction.atomic():
        WebhookDelivery.objects.filter(pk=delivery.pk, leased_until=None).update(
            state=State.PENDING, next_attempt_at=now, round_began_at=now, round_attempts=0, ended_at=None
        )
        wake_on_commit()


def _record(claim: WebhookDelivery, made: WebhookAttempt, *, is_success: bool = False, is_final: bool = False) -> None:
    now = timezone.now()
    pause = PAUSES[claim.round_attempts - 1] if claim.round_attempts <= len(PAUSES) else None
    if is_success or is_final or pause is None:
        moved = {"state": State.DELIVERED if is_success else State.FAILED, "next_attempt_at": None, "ended_at": now}
    else:
        moved = {"next_attempt_at": now + pause}
    with transaction.atomic():
        held = WebhookDelivery.objects.filter(
            pk=claim.pk, state=State.PENDING, attempts=claim.attempts, leased_until__isnull=False
        ).update(leased_until=None, **moved)
        if held:
            made.delivery_id, made.number, made.started_at = claim.pk, claim.attempts, now
            made.took_ms = made.took_ms or 0
            made.save(force_insert=True)
