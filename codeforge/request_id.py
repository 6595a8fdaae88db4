"""Every request has an id: it stands in the answer, in problems and in each log line that the request causes."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

_WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
_current: ContextVar[str | None] = ContextVar("request_id", default=None)


def current_request_id() -> str | None:
    """The id of the request that this thread works on."""
    return _current.get()


class RequestIdMiddleware:
    """Takes a well-formed ``X-Request-Id`` from outside, makes one otherwise, and writes one line per request.

    The line names method, path and status; never the query, a header or a body.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        offered = request.headers.get("X-Request-Id", "")
        request_id = offered if _WELL_FORMED.fullmatch(offered) else uuid.uuid4().hex
        token = _current.set(request_id)
        started = time.monotonic()
        try:
            response = self.get_response(request)
            response["X-Request-Id"] = request_id
            logger.info(
                "%s %s %d",
                request.method,
                # A path may hold anything, line breaks too.
                request.path.encode("ascii", "backslashreplace")
                .decode()[:200]
                .replace("\n", "\\n")
                .replace("\r", "\\r"),
                response.status_code,
                extra={"duration_ms": round((time.monotonic() - started) * 1000)},
            )
            return response
        finally:
            _current.reset(token)
