"""Signing in, with allauth: who may, and what is not offered."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from accounts.addresses import clean_address
from accounts.models import User


class EmailBackend(ModelBackend):
    """Django's own, which does the same hashing for an address that nobody has: the time tells nothing."""


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Staff who belong to no account have nothing to see in the dashboard."""
        if isinstance(request.user, User) and request.user.is_staff and not request.user.memberships.exists():
            return "/admin/"
        return str(super().get_login_redirect_url(request))

    def clean_email(self, email: str) -> str:
        return clean_address(email)


def has_second_factor(user: User) -> bool:
    from allauth.mfa.utils import is_mfa_enabled  # noqa: PLC0415  models must be ready

    enabled: Any = is_mfa_enabled(user)
    return bool(enabled)
