"""The shape of a batch's answers, for the OpenAPI document."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from executions.schema import ExecutionSerializer, Shape

BATCH_STATES = [(state, state) for state in ("QUEUED", "RUNNING", "FINISHED", "CANCELLED")]
RESULTS = ExecutionSerializer


class BatchSerializer(Shape):
    batchId = serializers.UUIDField()
    status = serializers.ChoiceField(choices=BATCH_STATES)
    total = serializers.IntegerField()
    counts: Any = serializers.DictField(child=serializers.IntegerField(), help_text="Executions by status.")
    metadata = serializers.DictField(child=serializers.CharField())
    createdAt = serializers.DateTimeField()
    finishedAt = serializers.DateTimeField(allow_null=True)


SUBMITTED = {
    202: OpenApiResponse(BatchSerializer, "Accepted, all of it."),
    200: OpenApiResponse(BatchSerializer, "The Idempotency-Key was sent before, with this body: the same batch."),
}
