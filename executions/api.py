"""The API's doors: read, call, show. No decisions."""

import logging
import uuid
from typing import Any

from django.db import DatabaseError
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from accounts.authentication import account_of
from accounts.entitlements import entitlements
from accounts.plans import DEFAULT, PLANS
from accounts.usage import current_period
from executions import lifecycle, parameters, queries, representation, schema, versions
from executions.serializers import ExecutionRequestSerializer
from executions.submission import submit
from executions.waiting import wait_until_finished
from sandbox.catalogue import catalogue

logger = logging.getLogger(__name__)


class Door(APIView):
    http_method_names = ("get", "head", "post", "delete")
    # The scopes that a key needs here: `accounts.authentication.HasScope`.
    reads = "executions:read"
    writes = "executions:write"

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        parameters.require_length(request.headers)


class ExecutionList(Door):
    @extend_schema(
        operation_id="createExecution",
        summary="Run a program",
        tags=["Executions"],
        request=ExecutionRequestSerializer,
        parameters=[schema.IDEMPOTENCY_KEY, schema.WAIT, schema.ENCODING, schema.LOCATION, schema.REPLAYED],
        examples=schema.EXAMPLES,
        responses=schema.SUBMITTED,
    )
    def post(self, request: Request) -> Response:
        """The program waits for a slot of the account, then runs in a sandbox: see `isolation`."""
        asked = parameters.read_parameters(
            request.query_params, wait=parameters.read_wait, encoding=parameters.read_encoding
        )
        key = parameters.read_idempotency_key(request.headers.get("Idempotency-Key"))
        account = account_of(request)
        accepted = submit(account=account, body=request.data, idempotency_key=key)
        pk = accepted.execution.pk
        try:
            wait_until_finished(pk, seconds=asked.get("wait", 0))
            execution = queries.get_for(account, pk)
        except DatabaseError:
            if accepted.replayed:
                raise
            # It is accepted, and no refusal may say otherwise: this is what we know of it.
            logger.exception("Accepted, but cannot be looked at", extra={"execution": pk})
            execution = accepted.execution
        headers = {"Location": reverse("execution", args=[pk], request=request)}
        if accepted.replayed:
            headers["Idempotency-Replayed"] = "true"
        shown = representation.full(execution, encoding=asked.get("encoding", "utf-8"))
        return Response(shown, status=200 if accepted.replayed else 202, headers=headers)

    @extend_schema(
        operation_id="listExecutions",
        summary="List executions",
        tags=["Executions"],
        parameters=schema.LISTING,
        responses=schema.ExecutionPageSerializer,
    )
    def get(self, request: Request) -> Response:
        """The newest first, without program texts and outputs."""
        filters, limit, cursor = parameters.read_listing(request.query_params)
        page = queries.listing_for(account_of(request), filters, limit=limit, cursor=cursor)
        return Response(
            {"data": [representation.brief(row) for row in page.executions], "nextCursor": page.next_cursor}
        )


class ExecutionDetail(Door):
    @extend_schema(
        operation_id="getExecution",
        summary="Get an execution",
        tags=["Executions"],
        parameters=[schema.WAIT, schema.ENCODING],
        responses=schema.ExecutionSerializer,
    )
    def get(self, request: Request, execution_id: uuid.UUID) -> Response:
        """Its present state; with `?wait=`, as soon as it has ended."""
        asked = parameters.read_parameters(
            request.query_params, wait=parameters.read_wait, encoding=parameters.read_encoding
        )
        account = account_of(request)
        if asked.get("wait"):
            queries.require_for(account, execution_id)
            wait_until_finished(execution_id, seconds=asked["wait"])
        execution = queries.get_for(account, execution_id)
        return Response(representation.full(execution, encoding=asked.get("encoding", "utf-8")))

    @extend_schema(
        operation_id="deleteExecution", summary="Erase an execution", tags=["Executions"], responses=schema.ERASED
    )
    def delete(self, request: Request, execution_id: uuid.UUID) -> Response:
        """Removes program, files, input, outputs and metadata at once and for ever; an unfinished one is cancelled.

        Afterwards it is answered like one that never was, and its Idempotency-Key is free. That it ran still counts.
        """
        parameters.read_parameters(request.query_params)
        queries.require_for(account_of(request), execution_id)
        lifecycle.erase(execution_id)
        return Response(status=204)


class ExecutionSource(Door):
    @extend_schema(
        operation_id="getExecutionSource",
        summary="Get what was submitted",
        tags=["Executions"],
        responses=schema.SubmittedSerializer,
    )
    def get(self, request: Request, execution_id: uuid.UUID) -> Response:
        """The program with its files, input and limits: sent again as a request, it asks for the same."""
        parameters.read_parameters(request.query_params)
        return Response(representation.submitted(queries.submitted_for(account_of(request), execution_id)))


class ExecutionCancel(Door):
    @extend_schema(
        operation_id="cancelExecution",
        summary="Cancel an execution",
        tags=["Executions"],
        request=None,
        parameters=[schema.ENCODING],
        responses=schema.CANCELLED,
    )
    def post(self, request: Request, execution_id: uuid.UUID) -> Response:
        """Stops it, whether it waits or runs. `409 already_finished` when there is nothing to stop.

        A waiting one is CANCELLED in the answer. A running one is answered as it is, and a `GET …?wait=` tells when it
        has stopped; it may still end by itself first, and then has that verdict.
        """
        asked = parameters.read_parameters(request.query_params, encoding=parameters.read_encoding)
        account = account_of(request)
        queries.require_for(account, execution_id)
        lifecycle.cancel(execution_id)
        execution = queries.get_for(account, execution_id)
        shown = representation.full(execution, encoding=asked.get("encoding", "utf-8"))
        return Response(shown, status=200 if execution.is_finished else 202)


class RuntimeList(Door):
    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="listRuntimes",
        summary="List languages",
        tags=["Runtimes"],
        auth=[],
        responses=schema.RuntimeListSerializer,
    )
    def get(self, request: Request) -> Response:
        """The languages with their versions, commands, options and limits. Needs no key."""
        parameters.read_parameters(request.query_params)
        offered = versions.offered()
        limits = PLANS[DEFAULT].limits
        return Response(
            {
                "data": [
                    representation.runtime(runtime, offered.get(language, []), limits)
                    for language, runtime in catalogue().items()
                ]
            }
        )


class Usage(Door):
    reads = writes = "usage:read"

    @extend_schema(
        operation_id="getUsage", summary="Get usage", tags=["Usage"], responses=schema.AccountUsageSerializer
    )
    def get(self, request: Request) -> Response:
        """What the account has used this month, and what it has going on."""
        parameters.read_parameters(request.query_params)
        account = account_of(request)
        load, running = queries.load_of(account), queries.running_of(account)
        return Response(representation.usage(entitlements(account), current_period(), load=load, running=running))
