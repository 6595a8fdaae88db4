"""Query parameters and headers. Unknown ones are refused by name; none becomes the name of a database look-up."""

import re
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from codeforge.errors import FieldError, InvalidRequest, join_path
from executions.models import Status
from executions.paging import MAX_PAGE
from executions.queries import Filters
from sandbox.catalogue import catalogue

MAX_WAIT_S = 60.0
ENCODINGS = ("utf-8", "base64")
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
_NUMBER = re.compile(r"\d{1,4}(\.\d{1,6})?")
_METADATA = re.compile(r"metadata\[(.{1,40})\]", re.DOTALL)


class Wrong(Exception):
    """The parameter's value is not taken. Says what is expected."""


def read_idempotency_key(value: str | None) -> str | None:
    if value is not None and not _IDEMPOTENCY_KEY.fullmatch(value):
        raise InvalidRequest([FieldError("Idempotency-Key", "Must have 1 to 255 visible ASCII characters.")])
    return value


def require_length(headers: Mapping[str, str]) -> None:
    """A body in chunks would be read as an empty one."""
    if "Transfer-Encoding" in headers:
        raise InvalidRequest([FieldError("Transfer-Encoding", "Send the body whole, with its Content-Length.")])


def read_parameters(query: QueryDict, **readers: Callable[[str], Any]) -> dict[str, Any]:
    """The values of the parameters that ``readers`` know, by name. Everything that is wrong is told at once."""
    values, errors = _read(query, readers)
    if errors:
        raise InvalidRequest(errors)
    return values


def read_listing(query: QueryDict) -> tuple[Filters, int, str | None]:
    """Filters, page size and cursor of a list."""
    metadata: dict[str, str] = {}
    rest = QueryDict(mutable=True)
    errors: list[FieldError] = []
    for name, given in query.lists():
        if (match := _METADATA.fullmatch(name)) is None:
            rest.setlist(name, given)
        elif len(given) > 1:
            errors.append(FieldError(join_path("", name), "Given twice."))
        elif "\0" in name or "\0" in given[0]:
            errors.append(FieldError(join_path("", name), "Must not hold NUL."))
        else:
            metadata[match[1]] = given[0]
    readers: dict[str, Callable[[str], Any]] = {
        "status": one_of(Status.values),
        "language": one_of(list(catalogue())),
        "createdAfter": read_time,
        "createdBefore": read_time,
        "batchId": read_uuid,
        "limit": read_limit,
        "cursor": str,
    }
    values, found = _read(rest, readers)
    if errors + found:
        raise InvalidRequest(errors + found)
    filters = Filters(
        status=values.get("status"),
        language=values.get("language"),
        created_after=values.get("createdAfter"),
        created_before=values.get("createdBefore"),
        batch=values.get("batchId"),
        metadata=metadata,
    )
    return filters, values.get("limit", 50), values.get("cursor")


def _read(query: QueryDict, readers: Mapping[str, Callable[[str], Any]]) -> tuple[dict[str, Any], list[FieldError]]:
    values: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, given in query.lists():
        if name not in readers:
            errors.append(FieldError(join_path("", name), "Unknown parameter."))
        elif len(given) > 1:
            errors.append(FieldError(name, "Given twice."))
        else:
            try:
                values[name] = readers[name](given[0])
            except Wrong as wrong:
                errors.append(FieldError(name, str(wrong)))
    return values, errors


def read_wait(text: str) -> float:
    """Seconds, 0 to 60."""
    if not _NUMBER.fullmatch(text) or not text.isascii() or float(text) > MAX_WAIT_S:
        raise Wrong("Must be a number of seconds from 0 to 60.")
    return float(text)


def read_limit(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= MAX_PAGE:
        raise Wrong(f"Must be a whole number from 1 to {MAX_PAGE}.")
    return int(text)


def read_time(text: str) -> datetime:
    try:
        time = parse_datetime(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise Wrong("Must be a time like 2026-11-30T18:00:00Z, with its zone (+ is sent as %2B).")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise Wrong("The time is out of range.") from None


def read_uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise Wrong("Must be an id as the API gives it.") from None


def one_of(values: list[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in values:
            raise Wrong(f"Must be one of: {', '.join(values)}.")
        return text

    return read


read_encoding = one_of(list(ENCODINGS))
