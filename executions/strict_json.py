"""JSON as the API takes it: UTF-8, bounded, and nothing that two readers could understand differently.

Refused, each with the path of the field: duplicate keys, NaN and Infinity, numbers too large to be exact everywhere,
lone surrogates, nesting and counts beyond any request of ours. Python's own reader lets all of that through.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.http import HttpRequest
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser

from codeforge.errors import FieldError, InvalidRequest, PayloadTooLarge, join_path

MAX_DEPTH = 16
MAX_VALUES = 200_000
MAX_INTEGER = 2**53 - 1  # what every JSON reader keeps exact

# Strings are skipped whole, so that only real structure is counted; one that never ends is skipped to the end of the
# text. Nothing goes back (`*+`) or begins again within a string: each letter is looked at once, whatever was sent.
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Pairs(list[tuple[str, Any]]):
    """An object before its keys were looked at."""


class _Refused:
    """Stands where a value was that is not taken."""

    def __init__(self, message: str) -> None:
        self.message = message


def parse(body: bytes) -> Any:
    """The value of a JSON document. Raises `InvalidRequest` which names each field that is wrong."""
    if not body:
        raise _whole("The body is empty; a JSON object is needed.")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _whole(f"Not UTF-8 at byte {error.start}.") from None
    _bound(text)
    try:
        value = json.loads(
            text,
            object_pairs_hook=_Pairs,
            parse_constant=lambda _: _Refused("NaN and Infinity are not JSON."),
            parse_int=_integer,
            parse_float=_number,
        )
    except json.JSONDecodeError as error:
        raise _whole(f"Not JSON: line {error.lineno}, column {error.colno}.") from None
    errors: list[FieldError] = []
    plain = _plain(value, "", errors)
    if errors:
        raise InvalidRequest(errors)
    return plain


def _whole(message: str) -> InvalidRequest:
    return InvalidRequest([FieldError("", message)])


def _bound(text: str) -> None:
    """Refuse nesting and counts before the reader, which is recursive, sees them."""
    depth = 0
    for count, match in enumerate(_STRUCTURE.finditer(text)):
        mark = text[match.start()]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise _whole(f"Nested deeper than {MAX_DEPTH} levels.")
        if count > MAX_VALUES:
            raise _whole(f"More than {MAX_VALUES:,} values.")


def _integer(digits: str) -> int | _Refused:
    # Length first: making a number of a million digits is work that the sender should not be able to order.
    if len(digits) <= 17 and abs(number := int(digits)) <= MAX_INTEGER:
        return number
    return _Refused(f"Integers beyond {MAX_INTEGER} are not taken.")


def _number(digits: str) -> float | _Refused:
    number = float(digits) if len(digits) <= 400 else math.inf
    return number if math.isfinite(number) else _Refused("The number is too large.")


def _plain(value: Any, path: str, errors: list[FieldError]) -> Any:
    if isinstance(value, _Refused):
        errors.append(FieldError(path, value.message))
        return None
    if isinstance(value, str):
        if _SURROGATE.search(value):
            errors.append(FieldError(path, "Holds half of a surrogate pair, which is no character."))
        return value
    if isinstance(value, _Pairs):
        result: dict[str, Any] = {}
        for key, item in value:
            inner = join_path(path, key)
            if _SURROGATE.search(key):
                errors.append(FieldError(inner, "The name holds half of a surrogate pair."))
            if key in result:
                errors.append(FieldError(inner, "Given twice."))
            result[key] = _plain(item, inner, errors)
        return result
    if isinstance(value, list):
        return [_plain(item, f"{path}[{index}]", errors) for index, item in enumerate(value)]
    return value


class StrictJSONParser(BaseParser):
    """DRF's door to `parse`. The body is bounded before it is read."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        assert parser_context is not None
        request = parser_context["request"]
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise InvalidRequest([FieldError("Content-Encoding", "Compressed bodies are not taken.")])
        charset = re.search(r";\s*charset=\"?([^\s;\"]*)", media_type or "", re.IGNORECASE)
        if charset is not None and charset[1].lower() not in {"utf-8", "utf8"}:
            raise InvalidRequest([FieldError("Content-Type", "The character set must be UTF-8.")])
        limit: int = settings.CODEFORGE_MAX_BODY_BYTES
        # A length that is no number is one that the server has refused to read by.
        length = request.META.get("CONTENT_LENGTH") or ""
        if length.isdecimal() and int(length) > limit:
            raise PayloadTooLarge
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise PayloadTooLarge
        return parse(body)


class AlwaysJSON(BaseContentNegotiation):
    """There is one representation. A client that says it accepts only something else still gets it."""

    def select_parser(self, request: HttpRequest, parsers: Any) -> Any:
        for parser in parsers:
            if getattr(request, "content_type", "").split(";")[0].strip().lower() == parser.media_type:
                return parser
        return None

    def select_renderer(
        self, request: HttpRequest, renderers: Any, format_suffix: str | None = None
    ) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type
