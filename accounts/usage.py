"""The ledger of runs: what was used, counted once, by calendar months in UTC."""

import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime

from django.db import connection
from django.utils import timezone

from accounts.models import UsagePeriod, UsageRecord


@dataclass(frozen=True, slots=True)
class Period:
    """A calendar month in UTC. ``end`` is the first moment of the next."""

    start: datetime
    end: datetime


def current_period() -> Period:
    now = timezone.now().astimezone(UTC)
    start = datetime(now.year, now.month, 1, tzinfo=UTC)
    end = datetime(now.year + now.month // 12, now.month % 12 + 1, 1, tzinfo=UTC)
    return Period(start, end)


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
