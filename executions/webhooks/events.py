"""What is told of, and with which body: each event has a function that makes the data from what it is about."""

import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from executions import representation
from executions.batches import representation as batches
from executions.batches.ending import BATCH_FINISHED, EVALUATION_FINISHED
from executions.evaluations import representation as evaluations
from executions.models import INPUTS, Batch, Evaluation, Execution
from executions.webhooks.models import WebhookDelivery

EXECUTION_FINISHED = "execution.finished"
TEST = "webhook.test"


class SubjectGone(Exception):
    """It was erased, or is older than the plan keeps: there is nothing left to tell."""


def _execution(execution_id: uuid.UUID) -> Mapping[str, Any]:
    execution = Execution.objects.filter(pk=execution_id, erased_at=None).defer(*INPUTS).first()
    if execution is None:
        raise SubjectGone
    return representation.full(execution)


def _batch(batch_id: uuid.UUID) -> Mapping[str, Any]:
    batch = Batch.objects.filter(pk=batch_id).first()
    if batch is None:
        raise SubjectGone
    return batches.shown(batch)


def _evaluation(evaluation_id: uuid.UUID) -> Mapping[str, Any]:
    evaluation = Evaluation.objects.select_related("batch").filter(pk=evaluation_id).first()
    if evaluation is None:
        raise SubjectGone
    return evaluations.shown(evaluation)


# What an endpoint may ask for. What ends in another room adds a line, and calls `outbox.enqueue` when it ends.
SUBJECTS: dict[str, Callable[[uuid.UUID], Mapping[str, Any]]] = {
    EXECUTION_FINISHED: _execution,
    BATCH_FINISHED: _batch,
    EVALUATION_FINISHED: _evaluation,
}


def body_of(delivery: WebhookDelivery) -> bytes:
    """The same bytes at every attempt: what is told of has ended. `SubjectGone`."""
    if delivery.event == TEST:
        data: Mapping[str, Any] = {"endpointId": str(delivery.endpoint_id)}
    else:
        assert delivery.subject_id is not None
        data = SUBJECTS[delivery.event](delivery.subject_id)
    told = {"type": delivery.event, "timestamp": representation.time(delivery.created_at), "data": data}
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False).encode()
