"""Every refusal under /v1 is an RFC 9457 problem, whoever raised it: DRF, Django, we, or a bug."""

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from rest_framework import exceptions as drf
from rest_framework.views import set_rollback

from codeforge.errors import (
    CodeForgeError,
    FieldError,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotFound,
    PayloadTooLarge,
    Unauthenticated,
    Unavailable,
)
from codeforge.request_id import current_request_id

logger = logging.getLogger(__name__)


def problem_type(code: str) -> str:
    """The address of the page that explains a code."""
    return f"{settings.CODEFORGE_BASE_URL}/docs/errors/{code}"


def problem(error: CodeForgeError) -> dict[str, Any]:
    """The body of a refusal."""
    return {
        "type": problem_type(error.code),
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
        "code": error.code,
        "requestId": current_request_id(),
        **error.members,
    }


def problem_response(error: CodeForgeError, headers: Mapping[str, str] | None = None) -> HttpResponse:
    return HttpResponse(
        json.dumps(problem(error), ensure_ascii=False),
        status=error.status,
        content_type="application/problem+json",
        headers={**error.headers, **(headers or {})},
    )


def translate(error: Exception) -> CodeForgeError:
    """Exceptions of the frameworks into ours. What is not known is a failure of ours."""
    match error:
        case CodeForgeError():
            return error
        case Http404() | drf.NotFound():
            return NotFound()
        case drf.MethodNotAllowed():
            return MethodNotAllowed()
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return Unauthenticated()
        case drf.UnsupportedMediaType():
            return InvalidRequest([FieldError("Content-Type", "Must be application/json.")])
        case RequestDataTooBig():
            return PayloadTooLarge()
        case drf.ParseError() | SuspiciousOperation():
            return InvalidRequest([FieldError("", "The request cannot be read.")])
        case drf.PermissionDenied() | PermissionDenied():
            # Nothing of ours denies in this way; whether the thing exists is not for this caller to know.
            return NotFound()
        case OperationalError() | InterfaceError():
            return Unavailable()
        case _:
            return InternalError()


def exception_handler(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """DRF's door. The transaction, if any, is rolled back."""
    set_rollback()
    refusal = translate(error)
    if refusal.status >= 500:
        logger.error("Request failed: %s", refusal.code, exc_info=error)
    return problem_response(refusal)


# --- Django's doors: what never reached a view of the API ------------------------------------------------------------


class RefusalMiddleware:
    """A refusal that a page raises becomes a page, as one that the API raises becomes a problem."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, CodeForgeError):
            return None
        response = _answer(request, exception)
        for name, value in exception.headers.items():
            response.headers[name] = value
        return response


def _answer(request: HttpRequest, error: CodeForgeError) -> HttpResponse:
    if request.path.startswith("/v1/"):
        return problem_response(error)
    return _page(request, error.status, error.title, error.detail)


def _page(request: HttpRequest, status: int, title: str, detail: str = "") -> HttpResponse:
    context = {"status": status, "title": title, "detail": detail, "request_id": current_request_id()}
    return render(request, "error.html", context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, translate(exception))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, NotFound())


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith("/v1/"):
        return problem_response(NotFound())
    return _page(request, 403, "You may not do that.")


def server_error(request: HttpRequest) -> HttpResponse:
    return _answer(request, InternalError())


def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    refusal = InvalidRequest(
        [FieldError("csrfmiddlewaretoken", "The form has expired. Go back, reload, and try again.")]
    )
    return _answer(request, refusal)
