"""Pages that are cut by place and not by number, so that what is new does not shift them."""

import base64
import binascii
import struct
import uuid
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

from codeforge.errors import FieldError, InvalidRequest

MAX_PAGE = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Row = TypeVar("Row", bound=Model)


def cut(rows: QuerySet[Row], *, limit: int, cursor: str | None) -> tuple[list[Row], str | None]:
    """A page of ``rows``, newest first, and the cursor of the next one: None on the last. They have ``created_at``."""
    if cursor is not None:
        created_at, pk = _place(cursor)
        # The first condition is what the index can use; the second cuts within one microsecond.
        rows = rows.filter(Q(created_at__lte=created_at), Q(created_at__lt=created_at) | Q(pk__lt=pk))
    found = list(rows.order_by("-created_at", "-pk")[: limit + 1])
    page = found[:limit]
    return page, _cursor(page[-1]) if len(found) > limit else None


def _cursor(row: Model) -> str:
    created_at: datetime = row.created_at  # type: ignore[attr-defined]
    microseconds = (created_at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(struct.pack(">q", microseconds) + row.pk.bytes).decode()


def _place(cursor: str) -> tuple[datetime, uuid.UUID]:
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
        (microseconds,) = struct.unpack(">q", raw[:8])
        return _EPOCH + timedelta(microseconds=microseconds), uuid.UUID(bytes=raw[8:])
    except (UnicodeEncodeError, binascii.Error, struct.error, OverflowError, ValueError):
        raise InvalidRequest([FieldError("cursor", "Not a cursor of ours: use `nextCursor` as it came.")]) from None
