"""DRF's door to `accounts.keys`: who is asking, or one and the same 401."""

from typing import Any

from django.db import connection
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from accounts.keys import find_key, note_use
from accounts.models import Account, ApiKey
from accounts.rates import address_of
from codeforge.errors import AccountSuspended, InsufficientScope, Unauthenticated


class ApiKeyAuthentication(BaseAuthentication):
    """``Authorization: Bearer <key>``. ``request.auth`` is then the `ApiKey`. Cookies never count here."""

    def authenticate(self, request: Request) -> tuple[Any, ApiKey]:
        scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
        key = find_key(secret.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Unauthenticated
        if key.account.suspended_at is not None:
            raise AccountSuspended
        note_use(key, address=address_of(request))
        # The body is read after this, as slowly as the client likes: with the connection held, a few dozen slow clients
        # would have all that there are. Inside a transaction, as some tests have one, it must stay.
        if not connection.in_atomic_block:
            connection.close()
        return None, key

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class HasScope(BasePermission):
    """Every address of the API needs a key with the scope that it names: ``view.reads``, else ``view.writes``."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not isinstance(request.auth, ApiKey):
            raise Unauthenticated
        needed = view.reads if request.method in SAFE_METHODS else view.writes
        if needed not in request.auth.scopes:
            raise InsufficientScope(needed)
        return True


def account_of(request: Request) -> Account:
    """The account that the request's key acts for."""
    key = request.auth
    assert isinstance(key, ApiKey)
    return key.account
