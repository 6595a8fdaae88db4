"""Webhook endpoints and their deliveries. A secret is in the answer to the request that made it, and nowhere after."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts import audit
from accounts.models import Membership
from accounts.pages import member_page, show
from codeforge.errors import InvalidRequest, NotFound
from executions.fields import flatten
from executions.pages import text
from executions.webhooks import delivery, endpoints, events, outbox, schema
from executions.webhooks.models import WebhookDelivery, WebhookEndpoint

_DELIVERIES = 50


@require_safe
@member_page()
def endpoint_list(request: HttpRequest, place: Membership) -> HttpResponse:
    return _list(request, place)


@require_POST
@member_page()
def make(request: HttpRequest, place: Membership) -> HttpResponse:
    typed = {
        "url": request.POST.get("url", "").strip(),
        "events": request.POST.getlist("events"),
        "description": request.POST.get("description", "").strip(),
    }
    asked = schema.WebhookEndpointRequestSerializer(data=typed)
    if not asked.is_valid():
        return _list(
            request, place, typed=typed, faults=[f"{one.field}: {one.message}" for one in flatten(asked.errors)]
        )
    try:
        made, secret = endpoints.create(place.account, **asked.validated_data)
    except InvalidRequest as refusal:
        return _list(request, place, typed=typed, faults=[one.message for one in refusal.errors])
    _record(place, "webhook endpoint made", made)
    return _list(request, place, made=made, secret=secret)


@require_POST
@member_page()
def rotate(request: HttpRequest, place: Membership, endpoint_id: uuid.UUID) -> HttpResponse:
    endpoint = _endpoint(place, endpoint_id)
    secret = endpoints.rotate(endpoint)
    _record(place, "webhook secret rotated", endpoint)
    return _list(request, place, made=endpoint, secret=secret)


@require_POST
@member_page()
def remove(request: HttpRequest, place: Membership, endpoint_id: uuid.UUID) -> HttpResponse:
    endpoint = _endpoint(place, endpoint_id)
    endpoints.remove(endpoint)
    _record(place, "webhook endpoint removed", endpoint)
    messages.success(request, "The endpoint is removed. Nothing more is sent to it.")
    return redirect("webhook-pages")


@require_POST
@member_page()
def test(request: HttpRequest, place: Membership, endpoint_id: uuid.UUID) -> HttpResponse:
    endpoint = _endpoint(place, endpoint_id)
    outbox.enqueue_for(endpoint, event=events.TEST)
    return redirect("webhook-page", endpoint.pk)


@require_safe
@member_page()
def detail(request: HttpRequest, place: Membership, endpoint_id: uuid.UUID) -> HttpResponse:
    """The newest deliveries, each with its attempts."""
    endpoint = _endpoint(place, endpoint_id)
    found = endpoints.deliveries_of(endpoint, limit=_DELIVERIES)
    context = {"endpoint": endpoint, "deliveries": [(one, _attempts(one)) for one in found]}
    return show(request, place, "webhooks/detail.html", context)


@require_safe
@member_page()
def delivered(request: HttpRequest, place: Membership, endpoint_id: uuid.UUID, delivery_id: uuid.UUID) -> HttpResponse:
    """One delivery: what is sent, and every answer."""
    one = _delivery(place, endpoint_id, delivery_id)
    try:
        body = text.show(events.body_of(one))
    except events.SubjectGone:
        body = None
    context = {"endpoint": one.endpoint, "delivery": one, "attempts": _attempts(one), "body": body}
    return show(request, place, "webhooks/delivery.html", context)


@require_POST
@member_page()
def redeliver(request: HttpRequest, place: Membership, endpoint_id: uuid.UUID, delivery_id: uuid.UUID) -> HttpResponse:
    delivery.redeliver(_delivery(place, endpoint_id, delivery_id))
    return redirect("delivery-page", endpoint_id, delivery_id)


def _attempts(one: WebhookDelivery) -> list[tuple[Any, text.Shown]]:
    """With the answers of strangers' servers as harmless text."""
    return [(made, text.show(made.answer)) for made in sorted(one.tries.all(), key=lambda made: made.number)]


def _endpoint(place: Membership, endpoint_id: uuid.UUID) -> WebhookEndpoint:
    try:
        return endpoints.get_for(place.account, endpoint_id)
    except NotFound:
        raise Http404 from None


def _delivery(place: Membership, endpoint_id: uuid.UUID, delivery_id: uuid.UUID) -> WebhookDelivery:
    try:
        return endpoints.delivery_for(place.account, endpoint_id, delivery_id)
    except NotFound:
        raise Http404 from None


def _list(
    request: HttpRequest,
    place: Membership,
    *,
    typed: Mapping[str, Any] | None = None,
    faults: list[str] | None = None,
    made: WebhookEndpoint | None = None,
    secret: str = "",
) -> HttpResponse:
    context = {
        "endpoints": endpoints.all_of(place.account),
        "events": schema.EVENTS,
        "typed": typed or {"events": schema.EVENTS},
        "faults": faults or [],
        "made": made,
        "secret": secret,
    }
    return show(request, place, "webhooks/list.html", context, status=400 if faults else 200)


def _record(place: Membership, action: str, endpoint: WebhookEndpoint) -> None:
    after = {"endpoint": str(endpoint.pk), "url": endpoint.url}
    audit.record(actor=place.user, action=action, subject=place.account, before={}, after=after)
