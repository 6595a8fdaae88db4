"""Requests and answers of the webhook addresses: what is taken, and for the OpenAPI document."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from executions.fields import StrictChoice, StrictList, StrictSerializer, StrictString
from executions.paging import MAX_PAGE
from executions.webhooks.addresses import MAX_URL
from executions.webhooks.events import SUBJECTS, TEST
from executions.webhooks.models import WebhookDelivery

Shape = serializers.Serializer[Any]
EVENTS = sorted(SUBJECTS)
STATES = [(state, state) for state in WebhookDelivery.State.values]


class WebhookEndpointRequestSerializer(StrictSerializer):
    url = StrictString(
        max_bytes=MAX_URL,
        allow_blank=False,
        help_text="`https://…`, of a host that has a public address. Redirects are not followed.",
    )
    events = StrictList(
        child=StrictChoice(choices=EVENTS),
        min_length=1,
        max_length=20,
        required=False,
        help_text="All, unless given. Runs of a batch or of an evaluation are told together, by its end.",
    )
    description = StrictString(max_bytes=200, default="")


class WebhookEndpointSerializer(Shape):
    """Where events are sent."""

    endpointId = serializers.UUIDField()
    url = serializers.CharField()
    events = serializers.ListField(child=serializers.CharField())
    description = serializers.CharField()
    createdAt = serializers.DateTimeField()


class WebhookEndpointWithSecretSerializer(WebhookEndpointSerializer):
    secret = serializers.CharField(help_text="Verifies the signatures. It is shown this once.")


class WebhookEndpointListSerializer(Shape):
    def get_fields(self) -> dict[str, Any]:
        return {"data": WebhookEndpointSerializer(many=True)}


class WebhookAttemptSerializer(Shape):
    """One request, and what came back."""

    number = serializers.IntegerField()
    status = serializers.IntegerField(allow_null=True, help_text="The HTTP status. Null: there was no answer.")
    answer = serializers.CharField(help_text="The first 8 KiB.")
    error = serializers.CharField(allow_null=True, help_text="Why there was no answer.")
    tookMs = serializers.IntegerField()
    at = serializers.DateTimeField()


class WebhookDeliverySerializer(Shape):
    """One event for one endpoint."""

    deliveryId = serializers.UUIDField()
    messageId = serializers.CharField(help_text="The header `webhook-id`, the same at every attempt.")
    event = serializers.ChoiceField(choices=[*EVENTS, TEST])
    subjectId = serializers.UUIDField(allow_null=True, help_text="The id of what has ended.")
    state = serializers.ChoiceField(choices=STATES)
    attempts = WebhookAttemptSerializer(many=True)
    nextAttemptAt = serializers.DateTimeField(allow_null=True)
    createdAt = serializers.DateTimeField()
    endedAt = serializers.DateTimeField(allow_null=True)


class WebhookDeliveryListSerializer(Shape):
    def get_fields(self) -> dict[str, Any]:
        return {"data": WebhookDeliverySerializer(many=True)}


LIMIT = OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 50})
MADE = {201: OpenApiResponse(WebhookEndpointWithSecretSerializer, "Made. This is the only time the secret is shown.")}
ROTATED = {200: OpenApiResponse(WebhookEndpointWithSecretSerializer, "The new secret, shown this once.")}
REMOVED = {204: OpenApiResponse(None, "Removed. Nothing more is sent to it.")}
QUEUED = {202: OpenApiResponse(WebhookDeliverySerializer, "It is sent within moments.")}
