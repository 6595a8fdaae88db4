"""What goes on in an account."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.entitlements import entitlements
from accounts.models import ApiKey, Membership
from accounts.pages import member_page, show
from accounts.usage import current_period
from executions import queries, representation

_LATEST = 10


@require_safe
@member_page()
def overview(request: HttpRequest, place: Membership) -> HttpResponse:
    account = place.account
    load, running = queries.load_of(account), queries.running_of(account)
    context = {
        "usage": representation.usage(entitlements(account), current_period(), load=load, running=running),
        "period": current_period(),
        "latest": queries.listing_for(account, queries.Filters(), limit=_LATEST, cursor=None).executions,
        "has_key": ApiKey.objects.filter(account=account).exists(),
    }
    return show(request, place, "runs/overview.html", context)
