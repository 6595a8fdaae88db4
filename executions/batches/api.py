"""The doors of batches: read, call, show."""

import json
import uuid
from collections.abc import Iterator

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.authentication import account_of
from accounts.models import Account
from executions import parameters, queries, representation
from executions.api import Door
from executions.batches import schema, state, submission
from executions.batches.representation import shown
from executions.models import INPUTS, Batch, Execution
from executions.schema import ENCODING, IDEMPOTENCY_KEY, LISTING, LOCATION, REPLAYED, WAIT, ExecutionPageSerializer
from executions.serializers import BatchRequestSerializer
from executions.waiting import wait_until_finished

NDJSON = "application/x-ndjson"


class BatchList(Door):
    @extend_schema(
        operation_id="createBatch",
        summary="Run many programs",
        tags=["Batches"],
        request=BatchRequestSerializer,
        parameters=[IDEMPOTENCY_KEY, WAIT, LOCATION, REPLAYED],
        responses=schema.SUBMITTED,
    )
    def post(self, request: Request) -> Response:
        """Up to 1,000 executions: all are accepted, or none. One look at the quota, one key, one wait."""
        asked = parameters.read_parameters(request.query_params, wait=parameters.read_wait)
        key = parameters.read_idempotency_key(request.headers.get("Idempotency-Key"))
        accepted = submission.submit(account=account_of(request), body=request.data, idempotency_key=key)
        batch = accepted.batch
        wait_until_finished(batch.pk, seconds=asked.get("wait", 0), is_finished=queries.batch_is_finished)
        headers = {"Location": reverse("batch", args=[batch.pk], request=request)}
        if accepted.replayed:
            headers["Idempotency-Replayed"] = "true"
        return Response(shown(batch), status=200 if accepted.replayed else 202, headers=headers)


class BatchDetail(Door):
    @extend_schema(
        operation_id="getBatch",
        summary="Get a batch",
        tags=["Batches"],
        parameters=[WAIT],
        responses=schema.BatchSerializer,
    )
    def get(self, request: Request, batch_id: uuid.UUID) -> Response:
        """How many of its executions stand where; with `?wait=`, as soon as all have ended."""
        asked = parameters.read_parameters(request.query_params, wait=parameters.read_wait)
        batch = state.get_for(account_of(request), batch_id)
        wait_until_finished(batch.pk, seconds=asked.get("wait", 0), is_finished=queries.batch_is_finished)
        return Response(shown(batch))


class BatchExecutions(Door):
    @extend_schema(
        operation_id="listBatchExecutions",
        summary="List a batch's executions",
        tags=["Batches"],
        parameters=LISTING,
        responses=ExecutionPageSerializer,
    )
    def get(self, request: Request, batch_id: uuid.UUID) -> Response:
        """The newest first, without program texts and outputs, with the filters of the other list."""
        account = account_of(request)
        state.get_for(account, batch_id)
        filters, limit, cursor = parameters.read_listing(request.query_params)
        page = queries.listing_for(account, filters.of_batch(batch_id), limit=limit, cursor=cursor)
        return Response(
            {"data": [representation.brief(row) for row in page.executions], "nextCursor": page.next_cursor}
        )


class BatchResults(Door):
    @extend_schema(
        operation_id="getBatchResults",
        summary="Read a batch's results as JSON Lines",
        tags=["Batches"],
        parameters=[ENCODING],
        responses={(200, NDJSON): schema.RESULTS},
    )
    def get(self, request: Request, batch_id: uuid.UUID) -> StreamingHttpResponse:
        """Every execution that has ended, whole, in the order in which they were given: one line each."""
        asked = parameters.read_parameters(request.query_params, encoding=parameters.read_encoding)
        account = account_of(request)
        batch = state.get_for(account, batch_id)
        lines = _lines(account, batch, asked.get("encoding", "utf-8"))
        return StreamingHttpResponse(lines, content_type=NDJSON)


class BatchCancel(Door):
    @extend_schema(
        operation_id="cancelBatch",
        summary="Cancel a batch",
        tags=["Batches"],
        request=None,
        responses={202: schema.BatchSerializer},
    )
    def post(self, request: Request, batch_id: uuid.UUID) -> Response:
        """Stops what waits and what runs. What has ended stays as it is. `409 already_finished` when all has."""
        parameters.read_parameters(request.query_params)
        batch = state.get_for(account_of(request), batch_id)
        state.cancel(batch)
        return Response(shown(batch), status=202)


def _lines(account: Account, batch: Batch, encoding: str) -> Iterator[bytes]:
    """One execution at a time: a thousand with all their outputs would be gigabytes."""
    for pk in queries.ended_of(account, batch.pk):
        row: Execution | None = queries.visible_to(account).defer(*INPUTS).filter(pk=pk).first()
        if row is not None:
            yield json.dumps(representation.full(row, encoding=encoding), ensure_ascii=False).encode() + b"\n"
