"""The pages of people: asking for access, coming in, and an account's keys and members. Doors, each to one room."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache

from accounts.members import accounts_of, membership_of
from accounts.models import Membership, Role, User

View = Callable[..., HttpResponseBase]

# The navigation of signed-in people. An app that has pages for them adds a line.
ROOMS = (
    ("/dashboard", "Overview"),
    ("/dashboard/runs", "Runs"),
    ("/dashboard/playground", "Playground"),
    ("/dashboard/batches", "Batches"),
    ("/dashboard/evaluations", "Evaluations"),
    ("/dashboard/usage", "Usage"),
    ("/dashboard/keys", "Keys"),
    ("/dashboard/webhooks", "Webhooks"),
    ("/dashboard/members", "Members"),
    ("/dashboard/account", "Account"),
)


def member_page(*, owners_only: bool = False) -> Callable[[View], View]:
    """A page of the account that the signed-in person looks at: ``page(request, place, …)``.

    Strangers are sent to sign in; a person without an account is told so; what only owners may do answers 403.
    """

    def decorate(page: View) -> View:
        @wraps(page)
        @never_cache
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not isinstance(request.user, User):
                return redirect_to_login(request.get_full_path())
            place = membership_of(request.user, request.session)
            if place is None:
                return render(request, "members/no_account.html", status=403)
            if owners_only and place.role != Role.OWNER:
                raise PermissionDenied
            return page(request, place, *args, **kwargs)

        return guarded

    return decorate


def show(
    request: HttpRequest, place: Membership, template: str, context: dict[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    """Render a page of an account, with what the navigation needs."""
    assert isinstance(request.user, User)
    shared = {
        "account": place.account,
        "place": place,
        "is_owner": place.role == Role.OWNER,
        "accounts": accounts_of(request.user),
        "rooms": ROOMS,
    }
    return render(request, template, {**shared, **(context or {})}, status=status)
