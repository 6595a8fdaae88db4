"""Every request has an id: it stands in the answer, in problems and in each log line that the request causes."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

_KEY = re.compile(r"cf_[a-z]+_\w+")
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
                _printable(request.path),
                response.status_code,
                extra={"duration_ms": round((time.monotonic() - started) * 1000)},
            )
            return response
        finally:
            _current.reset(token)


def _printable(path: str) -> str:
    """A path may hold anything: line breaks, what a terminal obeys, and the key of a client that put it there."""
    shown = _KEY.sub("<key>", path[:400])
    return "".join(c if " " <= c <= "~" else repr(c)[1:-1].encode("ascii", "backslashreplace").decode() for c in shown)
