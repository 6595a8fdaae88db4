"""The ledger of runs: what was used, counted once, by calendar months in UTC."""

import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.db import connection
from django.db.models import Count, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from accounts.models import UsagePeriod, UsageRecord


@dataclass(frozen=True, slots=True)
class Period:
    """A calendar month in UTC. ``end`` is the first moment of the next."""

    start: datetime
    end: datetime


def current_period() -> Period:
    return period_of(timezone.now())


def period_of(at: datetime) -> Period:
    """The month that ``at`` lies in."""
    at = at.astimezone(UTC)
    start = datetime(at.year, at.month, 1, tzinfo=UTC)
    end = datetime(at.year + at.month // 12, at.month % 12 + 1, 1, tzinfo=UTC)
    return Period(start, end)


@dataclass(frozen=True, slots=True)
class Day:
    """Runs that counted on a day in UTC, and what they took."""

    day: date
    runs: int
    cpu_time_ms: int
    wall_time_ms: int


def by_day(*, account_id: int, period: Period) -> list[Day]:
    """The days of a period on which something counted, the latest first."""
    records = UsageRecord.objects.filter(
        account_id=account_id, recorded_at__gte=period.start, recorded_at__lt=period.end
    )
    days = records.annotate(day=TruncDate("recorded_at", tzinfo=UTC)).values("day")
    counted = days.annotate(runs=Count("pk"), cpu=Sum("cpu_time_ms"), wall=Sum("wall_time_ms")).order_by("-day")
    return [Day(row["day"], row["runs"], row["cpu"], row["wall"]) for row in counted]


def runs_used(*, account_id: int, start: date) -> int:
    """Runs that count in the month that begins at ``start``. One row is read, however many runs there were."""
    period = UsagePeriod.objects.filter(account_id=account_id, start=start).only("runs").first()
    return 0 if period is None else period.runs


def record_run(*, account_id: int, execution_id: uuid.UUID, cpu_time_ms: int, wall_time_ms: int) -> None:
    """Count a run, in the transaction that finishes it. The unique id makes a second count an error, not a charge."""
    assert connection.in_atomic_block, "A run is counted in the transaction that finishes it, or not at all."
    UsageRecord.objects.create(
        account_id=account_id, execution_id=execution_id, cpu_time_ms=cpu_time_ms, wall_time_ms=wall_time_ms
    )
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO accounts_usageperiod (account_id, start, runs) VALUES (%s, %s, 1)
            ON CONFLICT (account_id, start) DO UPDATE SET runs = accounts_usageperiod.runs + 1
            """,
            [account_id, current_period().start.date()],
        )
