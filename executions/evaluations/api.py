"""The doors of evaluations: read, call, show."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.authentication import account_of
from executions import paging, parameters, queries
from executions.api import Door
from executions.batches.api import NDJSON
from executions.evaluations import schema, scoring, submission
from executions.evaluations.reading import LinesParser
from executions.evaluations.representation import brief, shown
from executions.models import Evaluation
from executions.schema import IDEMPOTENCY_KEY, LOCATION, PAGING, REPLAYED, WAIT
from executions.strict_json import StrictJSONParser
from executions.waiting import wait_until_finished


class EvaluationDoor(Door):
    reads = "evaluations:read"
    writes = "evaluations:write"


class EvaluationList(EvaluationDoor):
    parser_classes = (StrictJSONParser, LinesParser)

    @extend_schema(
        operation_id="createEvaluation",
        summary="Score candidates",
        tags=["Evaluations"],
        request=schema.EvaluationRequestSerializer,
        parameters=[IDEMPOTENCY_KEY, WAIT, LOCATION, REPLAYED],
        responses=schema.SUBMITTED,
    )
    def post(self, request: Request) -> Response:
        """Problems and candidates in, pass@k out. Every distinct program is run once; all are accepted, or none.

        As `application/x-ndjson` up to 50,000 candidates: the header, then problems and candidates, one to a line.
        """
        asked = parameters.read_parameters(request.query_params, wait=parameters.read_wait)
        key = parameters.read_idempotency_key(request.headers.get("Idempotency-Key"))
        accepted = submission.submit(account=account_of(request), body=request.data, idempotency_key=key)
        if accepted.evaluation is None:
            return Response(shown_cost(accepted.cost))
        evaluation = accepted.evaluation
        wait_until_finished(evaluation.batch_id, seconds=asked.get("wait", 0), is_finished=queries.batch_is_finished)
        headers = {"Location": reverse("evaluation", args=[evaluation.pk], request=request)}
        if accepted.replayed:
            headers["Idempotency-Replayed"] = "true"
        return Response(shown(evaluation), status=200 if accepted.replayed else 202, headers=headers)

    @extend_schema(
        operation_id="listEvaluations",
        summary="List evaluations",
        tags=["Evaluations"],
        parameters=PAGING,
        responses=schema.EvaluationPageSerializer,
    )
    def get(self, request: Request) -> Response:
        """The newest first, without scores."""
        asked = parameters.read_parameters(request.query_params, limit=parameters.read_limit, cursor=str)
        mine = scoring.evaluations_of(account_of(request))
        page, following = paging.cut(mine, limit=asked.get("limit", 50), cursor=asked.get("cursor"))
        return Response({"data": [brief(one) for one in page], "nextCursor": following})


class EvaluationDetail(EvaluationDoor):
    @extend_schema(
        operation_id="getEvaluation",
        summary="Get an evaluation",
        tags=["Evaluations"],
        parameters=[WAIT],
        responses=schema.EvaluationSerializer,
    )
    def get(self, request: Request, evaluation_id: uuid.UUID) -> Response:
        """Progress, pass@k with its interval, the score of each problem; with `?wait=`, as soon as all has ended."""
        asked = parameters.read_parameters(request.query_params, wait=parameters.read_wait)
        evaluation = scoring.get_for(account_of(request), evaluation_id)
        wait_until_finished(evaluation.batch_id, seconds=asked.get("wait", 0), is_finished=queries.batch_is_finished)
        return Response(shown(evaluation))


class EvaluationResults(EvaluationDoor):
    @extend_schema(
        operation_id="getEvaluationResults",
        summary="Read an evaluation's results as JSON Lines",
        tags=["Evaluations"],
        responses={(200, NDJSON): schema.OutcomeSerializer},
    )
    def get(self, request: Request, evaluation_id: uuid.UUID) -> StreamingHttpResponse:
        """Every candidate in the order in which they were given, one line each."""
        parameters.read_parameters(request.query_params)
        evaluation = scoring.get_for(account_of(request), evaluation_id)
        return StreamingHttpResponse(_lines(evaluation), content_type=NDJSON)


class EvaluationManifest(EvaluationDoor):
    @extend_schema(
        operation_id="getEvaluationManifest",
        summary="Get an evaluation's manifest",
        tags=["Evaluations"],
        responses=schema.ManifestSerializer,
    )
    def get(self, request: Request, evaluation_id: uuid.UUID) -> Response:
        """What it ran on, within which limits, and how it was estimated: enough for a paper's appendix."""
        parameters.read_parameters(request.query_params)
        return Response(scoring.manifest_of(scoring.get_for(account_of(request), evaluation_id)))


class EvaluationCancel(EvaluationDoor):
    @extend_schema(
        operation_id="cancelEvaluation",
        summary="Cancel an evaluation",
        tags=["Evaluations"],
        request=None,
        responses={202: schema.EvaluationSerializer},
    )
    def post(self, request: Request, evaluation_id: uuid.UUID) -> Response:
        """Stops what waits and what runs: it then has no score. `409 already_finished` when all has ended."""
        parameters.read_parameters(request.query_params)
        evaluation = scoring.get_for(account_of(request), evaluation_id)
        scoring.cancel(evaluation)
        return Response(shown(evaluation), status=202)


class EvaluationRetry(EvaluationDoor):
    @extend_schema(
        operation_id="retryEvaluation",
        summary="Run again what has no score",
        tags=["Evaluations"],
        request=None,
        responses={202: schema.EvaluationSerializer},
    )
    def post(self, request: Request, evaluation_id: uuid.UUID) -> Response:
        """New runs for the candidates that failed by our fault, or were cancelled. `409` when every one has a score."""
        parameters.read_parameters(request.query_params)
        evaluation = scoring.get_for(account_of(request), evaluation_id)
        scoring.retry(evaluation)
        return Response(shown(evaluation), status=202)


def shown_cost(cost: submission.Cost | None) -> dict[str, Any]:
    assert cost is not None
    return {"dryRun": True, "runs": cost.runs, "candidates": cost.candidates, "runsLeft": cost.left}


def _lines(evaluation: Evaluation) -> Iterator[bytes]:
    for outcome in scoring.outcomes(evaluation):
        line = {
            "problemId": outcome.problem_name,
            "candidateId": outcome.name,
            "executionId": outcome.execution_id and str(outcome.execution_id),
            "status": outcome.status,
            "passed": outcome.passed,
            "reason": outcome.reason,
            "deduplicated": outcome.deduplicated,
        }
        yield json.dumps(line, ensure_ascii=False).encode() + b"\n"
