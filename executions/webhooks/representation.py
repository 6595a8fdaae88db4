"""Endpoints and deliveries as the API shows them. Their shapes are declared in `executions.webhooks.schema`."""

from typing import Any

from executions.representation import time
from executions.webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint


def endpoint(shown: WebhookEndpoint) -> dict[str, Any]:
    return {
        "endpointId": str(shown.pk),
        "url": shown.url,
        "events": shown.events,
        "description": shown.description,
        "createdAt": time(shown.created_at),
    }


def delivery(shown: WebhookDelivery) -> dict[str, Any]:
    return {
        "deliveryId": str(shown.pk),
        "messageId": f"msg_{shown.pk.hex}",
        "event": shown.event,
        "subjectId": None if shown.subject_id is None else str(shown.subject_id),
        "state": shown.state,
        "attempts": [_attempt(made) for made in sorted(shown.tries.all(), key=lambda made: made.number)],
        "nextAttemptAt": time(shown.next_attempt_at),
        "createdAt": time(shown.created_at),
        "endedAt": time(shown.ended_at),
    }


def _attempt(made: WebhookAttempt) -> dict[str, Any]:
    return {
        "number": made.number,
        "status": made.status,
        "answer": bytes(made.answer).decode("utf-8", "replace"),
        "error": made.error or None,
        "tookMs": made.took_ms,
        "at": time(made.started_at),
    }
