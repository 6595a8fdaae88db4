"""What goes on in an account."""

from dataclasses import dataclass
from datetime import UTC, date, timedelta

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.entitlements import entitlements
from accounts.models import ApiKey, Membership
from accounts.pages import member_page, show
from accounts.usage import Period, by_day, current_period
from executions import queries, representation

_LATEST = 10
_DAYS = 14


@require_safe
@member_page()
def overview(request: HttpRequest, place: Membership) -> HttpResponse:
    account = place.account
    load, running = queries.load_of(account), queries.running_of(account)
    context = {
        "usage": representation.usage(entitlements(account), current_period(), load=load, running=running),
        "period": current_period(),
        "days": _days(account.pk),
        "latest": queries.listing_for(account, queries.Filters(), limit=_LATEST, cursor=None).executions,
        "has_key": ApiKey.objects.filter(account=account).exists(),
    }
    return show(request, place, "runs/overview.html", context)


@dataclass(frozen=True, slots=True)
class Bar:
    """A day of the chart: ``x``, ``y`` and ``height`` in the units of the SVG, which is 14 by 100."""

    day: date
    runs: int
    x: int
    y: float
    height: float


def _days(account_id: int) -> list[Bar]:
    """The last two weeks, days without runs as well."""
    today = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    period = Period(today - timedelta(days=_DAYS - 1), today + timedelta(days=1))
    counted = {one.day: one.runs for one in by_day(account_id=account_id, period=period)}
    days = [(period.start + timedelta(days=number)).date() for number in range(_DAYS)]
    most = max([counted.get(day, 0) for day in days] + [1])
    heights = [100 * counted.get(day, 0) / most for day in days]
    return [
        Bar(day, counted.get(day, 0), x, round(100 - height, 2), round(height, 2))
        for x, (day, height) in enumerate(zip(days, heights, strict=True))
    ]
