"""Log lines, for people or for machines. They hold ids, never program text, output or keys.

What an exception *says* can hold what a customer sent (PostgreSQL quotes the failing row), so of exceptions that are
not ours only the kind and the place are written.
"""

import json
import logging
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from codeforge.errors import CodeForgeError
from codeforge.request_id import current_request_id

# Whose messages are written by us, and hold nothing that was sent.
_OURS = ("codeforge.", "accounts.", "executions.", "sandbox.")


def describe(error: BaseException) -> str:
    """The kind of an exception, and its message where it is ours."""
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    trusted = isinstance(error, CodeForgeError) or kind.startswith(_OURS)
    return f"{kind}: {error}" if trusted else kind


def chain(error: BaseException) -> str:
    """The traceback of an exception and of what led to it, without a single value."""
    parts: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        parts.append("".join(traceback.format_tb(current.__traceback__)) + describe(current))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n\nThe above led to:\n\n".join(reversed(parts))


class _Formatter(logging.Formatter):
    def formatException(  # noqa: N802  the name is the standard library's
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        return chain(ei[1]) if ei[1] is not None else ""


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    known = ("duration_ms", "execution", "worker", "attempt")
    return {name: getattr(record, name) for name in known if hasattr(record, name)}


class LineFormatter(_Formatter):
    """``2026-11-30T18:00:00.000Z INFO executions.runner [request id] message key=value``"""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        request_id = current_request_id() or "-"
        extra = "".join(f" {name}={value}" for name, value in _extra(record).items())
        line = f"{at} {record.levelname} {record.name} [{request_id}] {record.getMessage()}{extra}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(_Formatter):
    """One JSON object a line, with the same content."""

    def format(self, record: logging.LogRecord) -> str:
        entry: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "requestId": current_request_id(),
            "message": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)
