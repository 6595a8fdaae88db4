"""The API's doors to webhook endpoints and their deliveries."""

import uuid

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.authentication import account_of
from codeforge.errors import InvalidRequest
from executions import parameters
from executions.api import Door
from executions.fields import flatten
from executions.schema import IDEMPOTENCY_KEY
from executions.submission import fingerprint_of
from executions.webhooks import delivery, endpoints, outbox, representation, schema
from executions.webhooks.events import TEST


class WebhookDoor(Door):
    reads = "webhooks:read"
    writes = "webhooks:write"


class EndpointList(WebhookDoor):
    @extend_schema(
        operation_id="createWebhookEndpoint",
        summary="Add a webhook endpoint",
        tags=["Webhooks"],
        request=schema.WebhookEndpointRequestSerializer,
        parameters=[IDEMPOTENCY_KEY],
        responses=schema.MADE,
    )
    def post(self, request: Request) -> Response:
        """Events are sent there from now on, signed as Standard Webhooks say, and tried again for a day."""
        parameters.read_parameters(request.query_params)
        asked = schema.WebhookEndpointRequestSerializer(data=request.data)
        if not asked.is_valid():
            raise InvalidRequest(flatten(asked.errors))
        values = asked.validated_data
        made, secret = endpoints.create(
            account_of(request),
            url=values["url"],
            events=values.get("events", schema.EVENTS),
            description=values["description"],
            idempotency_key=parameters.read_idempotency_key(request.headers.get("Idempotency-Key")),
            fingerprint=fingerprint_of(request.data, "POST /v1/webhook-endpoints"),
        )
        headers = {"Location": reverse("webhook-endpoint", args=[made.pk], request=request)}
        return Response({**representation.endpoint(made), "secret": secret}, status=201, headers=headers)

    @extend_schema(
        operation_id="listWebhookEndpoints",
        summary="List webhook endpoints",
        tags=["Webhooks"],
        responses=schema.WebhookEndpointListSerializer,
    )
    def get(self, request: Request) -> Response:
        """All of the account, the oldest first, without their secrets."""
        parameters.read_parameters(request.query_params)
        return Response({"data": [representation.endpoint(one) for one in endpoints.all_of(account_of(request))]})


class EndpointDetail(WebhookDoor):
    @extend_schema(
        operation_id="getWebhookEndpoint",
        summary="Get a webhook endpoint",
        tags=["Webhooks"],
        responses=schema.WebhookEndpointSerializer,
    )
    def get(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        """Without its secret."""
        parameters.read_parameters(request.query_params)
        return Response(representation.endpoint(endpoints.get_for(account_of(request), endpoint_id)))

    @extend_schema(
        operation_id="deleteWebhookEndpoint",
        summary="Remove a webhook endpoint",
        tags=["Webhooks"],
        responses=schema.REMOVED,
    )
    def delete(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        """What was still to be sent to it is not sent."""
        parameters.read_parameters(request.query_params)
        endpoints.remove(endpoints.get_for(account_of(request), endpoint_id))
        return Response(status=204)


class EndpointRotate(WebhookDoor):
    @extend_schema(
        operation_id="rotateWebhookSecret",
        summary="Change the secret of a webhook endpoint",
        tags=["Webhooks"],
        request=None,
        responses=schema.ROTATED,
    )
    def post(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        """For a day everything is signed with the former secret, too: receivers take either."""
        parameters.read_parameters(request.query_params)
        endpoint = endpoints.get_for(account_of(request), endpoint_id)
        return Response({**representation.endpoint(endpoint), "secret": endpoints.rotate(endpoint)})


class EndpointTest(WebhookDoor):
    @extend_schema(
        operation_id="testWebhookEndpoint",
        summary="Send a test event",
        tags=["Webhooks"],
        request=None,
        responses=schema.QUEUED,
    )
    def post(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        """An event `webhook.test`, delivered and tried again like every other."""
        parameters.read_parameters(request.query_params)
        endpoint = endpoints.get_for(account_of(request), endpoint_id)
        return Response(representation.delivery(outbox.enqueue_for(endpoint, event=TEST)), status=202)


class DeliveryList(WebhookDoor):
    @extend_schema(
        operation_id="listWebhookDeliveries",
        summary="List deliveries",
        tags=["Webhooks"],
        parameters=[schema.LIMIT],
        responses=schema.WebhookDeliveryListSerializer,
    )
    def get(self, request: Request, endpoint_id: uuid.UUID) -> Response:
        """The newest, each with its attempts and their answers. They are kept for 30 days."""
        asked = parameters.read_parameters(request.query_params, limit=parameters.read_limit)
        endpoint = endpoints.get_for(account_of(request), endpoint_id)
        found = endpoints.deliveries_of(endpoint, limit=asked.get("limit", 50))
        return Response({"data": [representation.delivery(one) for one in found]})


class DeliveryRedeliver(WebhookDoor):
    @extend_schema(
        operation_id="redeliverWebhook",
        summary="Send a delivery again",
        tags=["Webhooks"],
        request=None,
        responses=schema.QUEUED,
    )
    def post(self, request: Request, endpoint_id: uuid.UUID, delivery_id: uuid.UUID) -> Response:
        """At once, whatever came of it before, and with another day of attempts. Its `webhook-id` stays the same."""
        parameters.read_parameters(request.query_params)
        account = account_of(request)
        delivery.redeliver(endpoints.delivery_for(account, endpoint_id, delivery_id))
        again = endpoints.delivery_for(account, endpoint_id, delivery_id)
        return Response(representation.delivery(again), status=202)
