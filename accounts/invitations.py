"""Invitations: a link in a mail that makes its reader a member of an account, once.

The token is in the mail alone; here is its hash. Whoever has the link has read the mail, so accepting it also proves
the address.
"""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts import audit, mail
from accounts.models import Account, Invitation, Membership, Role, User

LASTS = timedelta(days=7)


class InvitationIsOver(Exception):
    """The link is altered, used, withdrawn or too old: to its reader all the same."""


class AnotherPerson(Exception):
    """The address belongs to somebody who has signed up already, and somebody else, or nobody, is signed in."""


@dataclass(frozen=True, slots=True)
class Letter:
    """An invitation with its token, which is nowhere else, to be sent when the invitation is stored."""

    invitation: Invitation
    token: str

    def send(self) -> bool:
        """False: the mail failed, which is logged. Whoever invited can do so again."""
        account, by = self.invitation.account, self.invitation.invited_by
        context = {
            "account": mail.one_line(account.name),
            "link": settings.CODEFORGE_BASE_URL + reverse("invitation", args=[self.token]),
            "days": LASTS.days,
            "inviter": by and by.email,
        }
        return mail.send("invitation", to=self.invitation.email, context=context)


def invite(account: Account, email: str, *, role: str, by: User | None) -> bool:
    """Write to ``email``. False: the mail failed."""
    return write(account, email, role=role, by=by).send()


def write(account: Account, email: str, *, role: str, by: User | None) -> Letter:
    """Make an invitation. An earlier open one of the address to this account ends."""
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    with transaction.atomic():
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        _open(now=None).filter(account=account, email__iexact=email).update(withdrawn_at=now)
        made = Invitation.objects.create(
            account=account, email=email, role=role, digest=_digest(token), invited_by=by, expires_at=now + LASTS
        )
        audit.record(
            actor=by, action="invite", subject=account, before={}, after={"email": email, "role": role}, reason=""
        )
    return Letter(made, token)


def find(token: str) -> Invitation:
    """The open invitation of a link. Raises `InvitationIsOver`."""
    found = _open(now=timezone.now()).select_related("account").filter(digest=_digest(token)).first()
    if found is None:
        raise InvitationIsOver
    return found


def person_of(invitation: Invitation) -> User | None:
    """Who has the address already."""
    return User.objects.filter(email__iexact=invitation.email).first()


def accept_as_new(token: str, *, name: str, password: str) -> User:
    """Make a person with this password and the invitation's address, and a member of its account."""
    with transaction.atomic():
        invitation = _locked(token)
        if person_of(invitation) is not None:
            raise AnotherPerson
        user = User(email=invitation.email, name=name)
        validate_password(password, user)
        user.set_password(password)
        user.save()
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
        _join(invitation, user)
    return user


def accept_as(token: str, user: User) -> None:
    """A person who is signed in joins the account, if the invitation is hers."""
    with transaction.atomic():
        invitation = _locked(token)
        if invitation.email.lower() != user.email.lower():
            raise AnotherPerson
        _join(invitation, user)


def withdraw(invitation: Invitation, *, by: User | None) -> None:
    with transaction.atomic():
        if Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None).update(
            withdrawn_at=timezone.now()
        ):
            audit.record(
                actor=by,
                action="invitation withdrawn",
                subject=invitation.account,
                before={"email": invitation.email},
                after={},
            )


def open_of(account: Account) -> list[Invitation]:
    return list(_open(now=timezone.now()).filter(account=account).order_by("-created_at"))


def _open(*, now: datetime | None) -> QuerySet[Invitation]:
    """Those that nobody has used or withdrawn; with ``now``, only those that have not expired either."""
    fresh = Q() if now is None else Q(expires_at__gt=now)
    return Invitation.objects.filter(fresh, accepted_at=None, withdrawn_at=None)


def _locked(token: str) -> Invitation:
    """Twice at once, one comes second and finds it accepted."""
    open_now = _open(now=timezone.now()).select_for_update(of=("self",)).select_related("account")
    found = open_now.filter(digest=_digest(token)).first()
    if found is None:
        raise InvitationIsOver
    return found


def _join(invitation: Invitation, user: User) -> None:
    Invitation.objects.filter(pk=invitation.pk).update(accepted_at=timezone.now())
    membership, is_new = Membership.objects.get_or_create(
        account=invitation.account, user=user, defaults={"role": invitation.role}
    )
    # An owner who is invited as a member stays one.
    if not is_new and invitation.role == Role.OWNER:
        Membership.objects.filter(pk=membership.pk).update(role=Role.OWNER)
    audit.record(
        actor=user, action="join", subject=invitation.account, before={}, after={"email": user.email}, reason=""
    )


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
