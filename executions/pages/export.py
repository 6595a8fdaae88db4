"""Runs as files: the filtered history as CSV or JSON Lines, and the exact bytes of one run."""

import csv
import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from accounts.models import Account, Membership
from accounts.pages import member_page
from codeforge.errors import InvalidRequest, NotFound
from executions import parameters, queries, representation
from executions.models import Execution
from executions.pages.runs import query_of
from executions.paging import MAX_PAGE

_COLUMNS: Mapping[str, Callable[[Execution], Any]] = {
    "executionId": lambda run: run.pk,
    "status": lambda run: run.status,
    "passed": lambda run: run.passed,
    "testsPassed": lambda run: run.tests_passed,
    "testsTotal": lambda run: run.tests_total,
    "language": lambda run: run.language,
    "version": lambda run: run.runtime_version,
    "exitCode": lambda run: run.exit_code,
    "signal": lambda run: run.signal,
    "limitExceeded": lambda run: run.limit_exceeded,
    "wallTimeMs": lambda run: run.wall_time_ms,
    "cpuTimeMs": lambda run: run.cpu_time_ms,
    "memoryPeakKb": lambda run: run.memory_peak_kb,
    "createdAt": lambda run: representation.time(run.created_at),
    "finishedAt": lambda run: representation.time(run.finished_at),
    "metadata": lambda run: json.dumps(run.metadata, ensure_ascii=False) if run.metadata else "",
}
_DOWNLOADS: Mapping[str, Callable[[Account, uuid.UUID], Execution]] = {
    "source": queries.submitted_for,
    "stdin": queries.submitted_for,
    "stdout": queries.get_for,
    "stderr": queries.get_for,
    "compile_stderr": queries.get_for,
}
# A spreadsheet would take what begins so for a formula of its own.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


@require_safe
@member_page()
def history(request: HttpRequest, place: Membership, kind: str) -> HttpResponseBase:
    """All runs that the filters let through, without programs and outputs, read page by page while they are sent."""
    try:
        make, content_type = _KINDS[kind]
        filters, _, _ = parameters.read_listing(query_of(request.GET))
    except (KeyError, InvalidRequest):
        raise Http404 from None
    response = StreamingHttpResponse(make(_runs(place.account, filters)), content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="runs.{kind}"'
    return response


@require_safe
@member_page()
def download(request: HttpRequest, place: Membership, execution_id: uuid.UUID, what: str) -> HttpResponse:
    """The exact bytes of a stream or of the program. Never shown by a browser: it is hostile text."""
    try:
        content = getattr(_DOWNLOADS[what](place.account, execution_id), what)
    except (KeyError, NotFound):
        raise Http404 from None
    raw = content.encode() if isinstance(content, str) else bytes(content)
    response = HttpResponse(raw, content_type="text/plain; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{execution_id}.{what}.txt"'
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def _runs(account: Account, filters: queries.Filters) -> Iterator[Execution]:
    cursor = None
    while True:
        page = queries.listing_for(account, filters, limit=MAX_PAGE, cursor=cursor)
        yield from page.executions
        cursor = page.next_cursor
        if cursor is None:
            return


def _as_lines(runs: Iterator[Execution]) -> Iterator[bytes]:
    for run in runs:
        yield json.dumps(representation.brief(run), ensure_ascii=False).encode() + b"\n"


class _Line:
    """What `csv.writer` writes to: it gives the line back."""

    def write(self, line: str) -> bytes:
        return line.encode()


def _as_csv(runs: Iterator[Execution]) -> Iterator[bytes]:
    writer = csv.writer(_Line())
    yield writer.writerow(_COLUMNS)
    for run in runs:
        yield writer.writerow([_cell(value(run)) for value in _COLUMNS.values()])


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


_KINDS: Mapping[str, tuple[Callable[[Iterator[Execution]], Iterator[bytes]], str]] = {
    "csv": (_as_csv, "text/csv; charset=utf-8"),
    "jsonl": (_as_lines, "application/x-ndjson"),
}
