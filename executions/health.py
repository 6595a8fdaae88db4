"""How the service is, for those who run it: queue, workers, the runs of the last day, and what failed by our fault."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import Now, TruncHour

from executions import versions
from executions.lifecycle import LEASE
from executions.models import UNFINISHED, Execution, QueueState, RuntimeImage, Status, Worker

_HOURS = 24
_FAILURES = 20


@dataclass(frozen=True, slots=True)
class Hour:
    """Runs that ended within an hour in UTC, by status."""

    start: datetime
    by_status: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.by_status.values())


@dataclass(frozen=True, slots=True)
class Health:
    waiting: int
    admitted: int
    running: int
    workers: list[Worker]
    hours: list[Hour]
    failures: list[Execution]
    runtimes: dict[str, list[RuntimeImage]]

    @property
    def statuses(self) -> list[str]:
        """Those that occurred, in the order in which they are declared."""
        seen = {status for hour in self.hours for status in hour.by_status}
        return [status for status in Status.values if status in seen]


def snapshot() -> Health:
    kept = QueueState.objects.aggregate(waiting=Sum("waiting", default=0), admitted=Sum("admitted", default=0))
    lately = Execution.objects.filter(finished_at__gt=Now() - timedelta(hours=_HOURS)).exclude(status__in=UNFINISHED)
    failed = lately.filter(status=Status.INTERNAL_ERROR).select_related("account")
    return Health(
        runtimes=versions.offered(),
        waiting=kept["waiting"],
        admitted=kept["admitted"],
        running=Execution.objects.filter(status=Status.RUNNING).count(),
        workers=list(Worker.objects.filter(stopped_at=None, seen_at__gt=Now() - LEASE).order_by("host", "pid")),
        hours=_by_hour(lately.annotate(hour=TruncHour("finished_at", tzinfo=UTC))),
        failures=list(
            failed.only("id", "account__name", "language", "error_code", "error_id", "finished_at").order_by(
                "-finished_at"
            )[:_FAILURES]
        ),
    )


def _by_hour(rows: QuerySet[Any]) -> list[Hour]:
    hours: dict[datetime, dict[str, int]] = {}
    for hour, status, runs in rows.values_list("hour", "status").annotate(runs=Count("pk")).order_by("-hour", "status"):
        hours.setdefault(hour, {})[status] = runs
    return [Hour(start, by_status) for start, by_status in hours.items()]
