"""What an account has used in a month, and why it counts."""

import re
from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.entitlements import entitlements
from accounts.models import Membership
from accounts.pages import member_page, show
from accounts.usage import Period, by_day, current_period, period_of, runs_used
from executions import queries

_MONTH = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])")


@require_safe
@member_page()
def usage(request: HttpRequest, place: Membership) -> HttpResponse:
    period = _asked(request.GET.get("month", ""))
    context = {
        "period": period,
        "entitled": entitlements(place.account),
        "load": queries.load_of(place.account),
        "is_current": period == current_period(),
        "used": runs_used(account_id=place.account_id, start=period.start.date()),
        "days": by_day(account_id=place.account_id, period=period),
        "kinds": queries.counts_of(place.account, period),
    }
    return show(request, place, "runs/usage.html", context)


def _asked(month: str) -> Period:
    """What is no month is this one."""
    match = _MONTH.fullmatch(month)
    return period_of(datetime(int(match[1]), int(match[2]), 1, tzinfo=UTC)) if match else current_period()
