"""Reads. `get_for` and `listing_for` are the one place where an account's view is cut out of the table."""

import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, QuerySet, Subquery
from django.utils import timezone

from accounts.models import Account, UsagePeriod, UsageRecord
from accounts.usage import Period, current_period, runs_used
from codeforge.errors import NotFound
from executions import paging
from executions.models import INPUTS, OUTPUTS, UNFINISHED, Execution, QueueState, Status


def get_for(account: Account, execution_id: uuid.UUID) -> Execution:
    """The account's execution. `NotFound` for what is not there, was erased, or is somebody else's."""
    return _get(visible_to(account).defer(*INPUTS), execution_id)


def submitted_for(account: Account, execution_id: uuid.UUID) -> Execution:
    """`get_for`, with what was submitted instead of what came of it."""
    return _get(visible_to(account).defer(*OUTPUTS), execution_id)


def _get(rows: QuerySet[Execution], execution_id: uuid.UUID) -> Execution:
    execution = rows.filter(pk=execution_id).first()
    if execution is None:
        raise NotFound
    return execution


def require_for(account: Account, execution_id: uuid.UUID) -> None:
    """`get_for` without loading anything: raises `NotFound` in the same cases."""
    if not visible_to(account).filter(pk=execution_id).exists():
        raise NotFound


def ended_of(account: Account, batch_id: uuid.UUID) -> list[uuid.UUID]:
    """The executions of a batch that have ended, in the order in which they were given."""
    rows = visible_to(account).filter(batch_id=batch_id).exclude(status__in=UNFINISHED)
    return list(rows.order_by("created_at", "pk").values_list("pk", flat=True))


def is_finished(execution_id: uuid.UUID) -> bool:
    """Whether it has ended, or is gone."""
    return not Execution.objects.filter(pk=execution_id, status__in=UNFINISHED, erased_at=None).exists()


def batch_is_finished(batch_id: uuid.UUID) -> bool:
    """Whether all of its executions have ended."""
    return not Execution.objects.filter(batch_id=batch_id, status__in=UNFINISHED).exists()


def visible_to(account: Account) -> QuerySet[Execution]:
    """The account's executions that were not erased."""
    return Execution.objects.filter(account=account, erased_at=None)


# --- Lists -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    status: str | None = None
    language: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    batch: uuid.UUID | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def of_batch(self, batch_id: uuid.UUID) -> "Filters":
        return replace(self, batch=batch_id)


@dataclass(frozen=True, slots=True)
class Page:
    """``next_cursor`` is None on the last page."""

    executions: list[Execution]
    next_cursor: str | None


def listing_for(account: Account, filters: Filters, *, limit: int, cursor: str | None) -> Page:
    """A page of the account's executions, newest first, without program texts and outputs."""
    rows = visible_to(account).defer(*INPUTS, *OUTPUTS)
    if filters.status:
        rows = rows.filter(status=filters.status)
    if filters.language:
        rows = rows.filter(language=filters.language)
    if filters.created_after:
        rows = rows.filter(created_at__gt=filters.created_after)
    if filters.created_before:
        rows = rows.filter(created_at__lt=filters.created_before)
    if filters.batch:
        rows = rows.filter(batch_id=filters.batch)
    if filters.metadata:
        rows = rows.filter(metadata__contains=dict(filters.metadata))
    return Page(*paging.cut(rows, limit=limit, cursor=cursor))


# --- Load ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Load:
    """What an account has going on: ``waiting`` without a slot, ``admitted`` with one, ``used`` runs of this month."""

    waiting: int
    admitted: int
    used: int

    @property
    def unfinished(self) -> int:
        return self.waiting + self.admitted


def load_of(account: Account) -> Load:
    """One statement, so one moment: a run that ends meanwhile is counted as unfinished or as used, never as neither."""
    start = current_period().start.date()
    used = Subquery(UsagePeriod.objects.filter(account=account, start=start).values("runs")[:1])
    row = QueueState.objects.filter(account=account).values_list("waiting", "admitted", used).first()
    if row is None:
        return Load(0, 0, runs_used(account_id=account.pk, start=start))
    return Load(row[0], row[1], row[2] or 0)


def running_of(account: Account) -> int:
    return Execution.objects.filter(account=account, status=Status.RUNNING).count()


# How fast an account's runs end is measured over the last runs that counted, if they are not older than this.
_PACE_IS_MEASURED_OVER = timedelta(minutes=10)
_PACE_IS_MEASURED_BY = 100
_LONGEST_WAIT_S = 3_600


def seconds_until_ended(account: Account, *, number: int) -> int:
    """In how many seconds ``number`` runs of the account will have ended, at the pace of its last ones. 1 to 3,600.

    When none has ended lately there is no pace to go by, and a minute is as good an answer as any.
    """
    now = timezone.now()
    ended = UsageRecord.objects.filter(account=account, recorded_at__gt=now - _PACE_IS_MEASURED_OVER)
    times = list(ended.order_by("-recorded_at").values_list("recorded_at", flat=True)[:_PACE_IS_MEASURED_BY])
    if not times:
        return 60
    each_s = max(0.0, (now - times[-1]).total_seconds()) / len(times)
    return min(_LONGEST_WAIT_S, max(1, math.ceil(each_s * number)))


# --- What counted ----------------------------------------------------------------------------------------------------


# Nothing waits and runs longer than this; older rows need not be looked at.
_LONGEST_LIFE = timedelta(days=62)


@dataclass(frozen=True, slots=True)
class Kind:
    """Runs of one language that ended in one way, and whether such runs count."""

    language: str
    status: str
    runs: int
    counts: bool


def counts_of(account: Account, period: Period) -> list[Kind]:
    """Runs that ended in a month, by language and status: those that are still kept."""
    ended = Execution.objects.filter(
        account=account, created_at__gte=period.start - _LONGEST_LIFE, finished_at__gte=period.start
    ).filter(finished_at__lt=period.end)
    # Our failures never count; what was cancelled counts when it had started.
    counts = ~Q(status=Status.INTERNAL_ERROR) & (~Q(status=Status.CANCELLED) | Q(started_at__isnull=False))
    grouped = ended.annotate(counts=ExpressionWrapper(counts, output_field=BooleanField()))
    rows = grouped.values_list("language", "status", "counts").annotate(runs=Count("pk"))
    return [Kind(row[0], row[1], row[3], row[2]) for row in rows.order_by("language", "status", "counts")]
