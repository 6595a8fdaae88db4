"""Signing in, with allauth: who may, and what is not offered."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.backends import ModelBackend
from django.core.mail import EmailMessage
from django.http import HttpRequest

from accounts import mail
from accounts.addresses import clean_address
from accounts.models import User


class EmailBackend(ModelBackend):
    """Django's own, which does the same hashing for an address that nobody has: the time tells nothing."""


class _Posted:
    """A mail of allauth's, which only ever sends it.

    A forgotten password is to be answered as fast for an address that nobody has, to which nothing is sent.
    """

    def __init__(self, message: EmailMessage) -> None:
        self._message = message

    def send(self) -> None:
        mail.post(self._message)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Staff who belong to no account have nothing to see in the dashboard."""
        if isinstance(request.user, User) and request.user.is_staff and not request.user.memberships.exists():
            return "/admin/"
        return str(super().get_login_redirect_url(request))

    def render_mail(self, *args: Any, **kwargs: Any) -> "_Posted":
        return _Posted(super().render_mail(*args, **kwargs))

    def clean_email(self, email: str) -> str:
        return clean_address(email)


def has_second_factor(user: User) -> bool:
    from allauth.mfa.utils import is_mfa_enabled  # noqa: PLC0415  models must be ready

    enabled: Any = is_mfa_enabled(user)
    return bool(enabled)
