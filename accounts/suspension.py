"""Suspends accounts and restores them. Suspended: the API answers 403, what runs may finish, nothing new starts."""

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, User


def suspend(account: Account, *, by: User | None, reason: str) -> bool:
    """False when it was suspended already. Admission and claims look at the row, so it holds from this commit on."""
    now = timezone.now()
    with transaction.atomic():
        if not Account.objects.filter(pk=account.pk, suspended_at=None).update(suspended_at=now):
            return False
        audit.record(
            actor=by,
            action="suspend",
            subject=account,
            before={"suspendedAt": None},
            after={"suspendedAt": now.isoformat()},
            reason=reason,
        )
    return True


def restore(account: Account, *, by: User | None, reason: str) -> bool:
    """False when it was not suspended. What waited goes on with the next sweep."""
    with transaction.atomic():
        locked = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if locked.suspended_at is None:
            return False
        Account.objects.filter(pk=account.pk).update(suspended_at=None)
        audit.record(
            actor=by,
            action="restore",
            subject=account,
            before={"suspendedAt": locked.suspended_at.isoformat()},
            after={"suspendedAt": None},
            reason=reason,
        )
    return True
