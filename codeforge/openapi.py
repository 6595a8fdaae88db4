"""The OpenAPI document: generated from the code, completed with the refusals that every address may answer with."""

from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from drf_spectacular.generators import SchemaGenerator

from codeforge.errors import CodeForgeError, MethodNotAllowed, codes
from codeforge.problems import problem_response

_ALWAYS = ("invalid_request", "rate_limited", "internal_error", "unavailable")
_WITH_KEY = ("unauthenticated", "account_suspended", "insufficient_scope")
_WITH_ID = ("not_found",)
_BY_OPERATION = {
    "createExecution": (
        "limit_above_plan",
        "quota_exceeded",
        "payload_too_large",
        "idempotency_key_reused",
        "queue_full",
    ),
    "cancelExecution": ("already_finished",),
    "createBatch": (
        "limit_above_plan",
        "quota_exceeded",
        "payload_too_large",
        "idempotency_key_reused",
        "queue_full",
    ),
    "cancelBatch": ("already_finished",),
    "createWebhookEndpoint": ("payload_too_large", "idempotency_key_reused"),
    "createEvaluation": (
        "limit_above_plan",
        "quota_exceeded",
        "payload_too_large",
        "idempotency_key_reused",
        "queue_full",
    ),
    "cancelEvaluation": ("already_finished",),
    "retryEvaluation": ("already_finished", "quota_exceeded", "queue_full"),
}


@cache
def document() -> dict[str, Any]:
    """The document, made once: it changes with the code only."""
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return made


def document_view(request: HttpRequest) -> HttpResponse:
    """`GET /v1/openapi.json`: public, and the reference."""
    if request.method not in {"GET", "HEAD"}:
        return problem_response(MethodNotAllowed(), {"Allow": "GET, HEAD"})
    return JsonResponse(document(), json_dumps_params={"ensure_ascii": False})


def add_refusals(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Say of every operation how it refuses. A hook of the generator."""
    result["components"]["schemas"]["Problem"] = _problem_schema()
    for path, operations in result["paths"].items():
        for operation in operations.values():
            named = [*_ALWAYS, *_BY_OPERATION.get(operation["operationId"], ())]
            named += _WITH_KEY if operation.get("security") else ()
            named += _WITH_ID if "{" in path else ()
            for status, errors in _by_status(named).items():
                operation["responses"][str(status)] = {
                    "description": " · ".join(f"`{error.code}`: {error.title}" for error in errors),
                    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                }
    return result


def _by_status(named: list[str]) -> dict[int, list[type[CodeForgeError]]]:
    by_status: dict[int, list[type[CodeForgeError]]] = {}
    for code, error in codes().items():
        if code in named:
            by_status.setdefault(error.status, []).append(error)
    return by_status


def _problem_schema() -> dict[str, Any]:
    text = {"type": "string"}
    return {
        "type": "object",
        "description": "A refusal, as RFC 9457 describes it. Some codes have further members: see the code's page.",
        "required": ["type", "title", "status", "detail", "code", "requestId"],
        "properties": {
            "type": {"type": "string", "format": "uri", "description": "The page that explains the code."},
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "code": {"type": "string", "enum": list(codes())},
            "requestId": {"type": "string", "nullable": True},
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["field", "message"],
                    "properties": {"field": text, "message": text},
                },
            },
        },
    }
