"""The history of an account's runs, and one run with everything about it."""

import base64
import json
import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Membership
from accounts.pages import member_page, show
from codeforge.errors import AccountSuspended, InvalidRequest, NotFound
from executions import parameters, queries, representation, submission
from executions.models import Execution, Status
from executions.pages import text
from sandbox.catalogue import catalogue

_LONGEST_SHOWN_REQUEST = 20_000
_FILTERS = ("status", "language", "createdAfter", "createdBefore", "batchId", "cursor")


@require_safe
@member_page()
def history(request: HttpRequest, place: Membership) -> HttpResponse:
    """Newest first, in pages cut by place: as fast with a million runs as with ten."""
    asked = request.GET
    if wanted := asked.get("id", "").strip():
        try:
            return redirect("run", uuid.UUID(wanted))
        except ValueError:
            return _history(request, place, QueryDict(), ["That is no id of a run: it looks like 0b6c…-…-…."])
    return _history(request, place, query_of(asked), [])


def query_of(asked: QueryDict) -> QueryDict:
    """The form's filters in the words of the API."""
    query = QueryDict(mutable=True)
    for name in _FILTERS:
        if given := asked.get(name, "").strip():
            query[name] = given
    if key := asked.get("key", "").strip():
        query[f"metadata[{key}]"] = asked.get("value", "")
    return query


def _history(request: HttpRequest, place: Membership, query: QueryDict, faults: list[str]) -> HttpResponse:
    page = queries.Page([], None)
    try:
        filters, limit, cursor = parameters.read_listing(query)
        if not faults:
            page = queries.listing_for(place.account, filters, limit=limit, cursor=cursor)
    except InvalidRequest as refusal:
        faults = [f"{error.field}: {error.message}" for error in refusal.errors]
    following = request.GET.copy()
    following["cursor"] = page.next_cursor or ""
    context = {
        "runs": page.executions,
        "following": following.urlencode() if page.next_cursor else "",
        "is_first": not request.GET.get("cursor"),
        "is_filtered": any(request.GET.get(name) for name in (*_FILTERS, "key", "id")),
        "faults": faults,
        "statuses": Status.values,
        "languages": list(catalogue()),
        "asked": request.GET,
        "filters": request.GET.urlencode(),
    }
    return show(request, place, "runs/history.html", context, status=400 if faults else 200)


@require_safe
@member_page()
def detail(request: HttpRequest, place: Membership, execution_id: uuid.UUID) -> HttpResponse:
    """Everything about one run, its program and outputs as harmless text."""
    try:
        run = queries.get_for(place.account, execution_id)
        submitted = queries.submitted_for(place.account, execution_id)
    except NotFound:
        raise Http404 from None
    source = text.show(submitted.source)
    context = {
        "run": run,
        "shown": representation.brief(run),
        "source": source,
        "program": text.highlighted(source.text, run.language),
        "stdin": text.show(submitted.stdin),
        "stdout": text.show(run.stdout),
        "stderr": text.show(run.stderr),
        "compile_stderr": text.show(run.compile_stderr),
        "compile_stdout": text.show(run.compile_stdout),
        "tests": [_test(result) for result in run.test_results],
        "limits": _limits(run),
        "curl": text.visible(_as_curl(submitted)),
        "metadata": [(text.visible(name), text.visible(value)) for name, value in run.metadata.items()],
    }
    return show(request, place, "runs/detail.html", context)


@require_POST
@member_page()
def run_again(request: HttpRequest, place: Membership, execution_id: uuid.UUID) -> HttpResponse:
    """The same program with the same input and limits, as a new run. A refusal is shown as a page."""
    if place.account.suspended_at is not None:
        raise AccountSuspended
    try:
        submitted = queries.submitted_for(place.account, execution_id)
    except NotFound:
        raise Http404 from None
    body = representation.submitted(submitted)
    accepted = submission.submit(account=place.account, body=body, idempotency_key=None)
    return redirect("run", accepted.execution.pk)


def _as_curl(submitted: Execution) -> str:
    """What a customer would send for the same again. Empty when it is too long to read."""
    body = json.dumps(representation.submitted(submitted), ensure_ascii=False, indent=1)
    if len(body) > _LONGEST_SHOWN_REQUEST:
        return ""
    quoted = body.replace("'", "'\\''")
    return (
        'curl "$CODEFORGE_URL/v1/executions?wait=30" \\\n  -H "Authorization: Bearer $CODEFORGE_API_KEY" '
        f"-H \"Content-Type: application/json\" \\\n  -d '{quoted}'"
    )


def _test(result: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": text.visible(result["id"]),
        "status": result["status"],
        "passed": result["passed"],
        "stdout": text.show(base64.b64decode(result["stdout"])),
        "stderr": text.show(base64.b64decode(result["stderr"])),
        "usage": result["usage"],
    }


def _limits(run: Execution) -> list[tuple[str, int | None, int, str]]:
    """(what, used, limit, unit)."""
    limits = run.limits
    memory_kb = run.memory_peak_kb
    return [
        ("Wall time", run.wall_time_ms, limits["wall_time_ms"], "ms"),
        ("CPU time", run.cpu_time_ms, limits["cpu_time_ms"], "ms"),
        ("Memory", None if memory_kb is None else memory_kb // 1024, limits["memory_mb"], "MiB"),
        ("Standard output", run.stdout_bytes, limits["output_bytes"], "bytes"),
        ("Standard error", run.stderr_bytes, limits["output_bytes"], "bytes"),
    ]
