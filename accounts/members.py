"""Who belongs to an account. An account always keeps an owner."""

from collections.abc import MutableMapping
from typing import Any

from django.db import transaction

from accounts import audit
from accounts.models import Account, Membership, Role, User

_CHOSEN = "account"


class LastOwner(Exception):
    """Without this one, nobody could manage the account any more."""


def membership_of(user: User, session: MutableMapping[str, Any]) -> Membership | None:
    """The person's place in the account that she looks at: the one she chose last, else the oldest."""
    places = Membership.objects.filter(user=user).select_related("account").order_by("created_at", "pk")
    chosen = session.get(_CHOSEN)
    return (places.filter(account_id=chosen).first() if chosen is not None else None) or places.first()


def choose(user: User, account_id: int, session: MutableMapping[str, Any]) -> bool:
    """Look at another of one's accounts from now on. False when it is not one of hers."""
    if not Membership.objects.filter(user=user, account_id=account_id).exists():
        return False
    session[_CHOSEN] = account_id
    return True


def accounts_of(user: User) -> list[Account]:
    return list(Account.objects.filter(memberships__user=user).order_by("memberships__created_at"))


def change_role(account: Account, user_id: int, role: str, *, by: User) -> None:
    """Raises `LastOwner`, and `Membership.DoesNotExist` for who is no member."""
    with transaction.atomic():
        place = _locked(account, user_id)
        if role != Role.OWNER:
            _require_another_owner(account, place)
        Membership.objects.filter(pk=place.pk).update(role=role)
        _record(account, place, by=by, after=role)


def remove(account: Account, user_id: int, *, by: User) -> None:
    """Raises as `change_role`. The person stays, with her other accounts; keys belong to the account and stay, too."""
    with transaction.atomic():
        place = _locked(account, user_id)
        _require_another_owner(account, place)
        place.delete()
        _record(account, place, by=by, after=None)


def _locked(account: Account, user_id: int) -> Membership:
    # The account's lock, too: two owners who remove each other at once would both see the other as the one that stays.
    Account.objects.select_for_update(no_key=True).get(pk=account.pk)
    return Membership.objects.select_related("user").get(account=account, user_id=user_id)


def _require_another_owner(account: Account, place: Membership) -> None:
    others = Membership.objects.filter(account=account, role=Role.OWNER).exclude(pk=place.pk)
    if place.role == Role.OWNER and not others.exists():
        raise LastOwner


def _record(account: Account, place: Membership, *, by: User, after: str | None) -> None:
    audit.record(
        actor=by,
        action="member",
        subject=account,
        before={"email": place.user.email, "role": place.role},
        after={"role": after},
    )
