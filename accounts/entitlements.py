"""What an account may do: its plan, and what staff changed for it. Whoever enforces a number counts for itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.models import Account, Override, User
from accounts.plans import NUMBERS, PLANS, Range


@dataclass(frozen=True, slots=True)
class Entitlements:
    """``None`` is without limit, ``0`` is none."""

    plan: str
    monthly_runs: int | None
    max_concurrency: int | None
    max_queued: int | None
    reads_per_minute: int | None
    writes_per_minute: int | None
    retention_days: int | None
    languages: frozenset[str]
    limits: Mapping[str, Range]


def entitlements(account: Account) -> Entitlements:
    """As of now: an override counts until the moment it expires. One query, or none when overrides were prefetched."""
    now = timezone.now()
    changed = {
        override.name: override.value
        for override in account.overrides.all()
        if override.expires_at is None or override.expires_at > now
    }
    terms = PLANS[account.plan]
    return Entitlements(
        plan=terms.name,
        **{number: changed.get(number, terms.numbers[number]) for number in NUMBERS},
        languages=terms.languages,
        limits={name: _limit(name, allowed, changed) for name, allowed in terms.limits.items()},
    )


def _limit(name: str, allowed: Range, changed: Mapping[str, int | None]) -> Range:
    # `Override` lets no limit be without bound, so these are numbers.
    ceiling = changed.get(f"limits.{name}.ceiling") or allowed.ceiling
    default = changed.get(f"limits.{name}.default") or allowed.default
    # A ceiling that was lowered below the default lowers what holds when nothing is asked for, too.
    return Range(min(default, ceiling), ceiling, min(allowed.least, default, ceiling))


def set_plan(account: Account, plan: str, *, by: User | None, reason: str) -> bool:
    """Move an account to a plan; the only writer of ``Account.plan``. False when it was on it already.

    What is queued stays queued, what runs runs on; the next admission goes by the new numbers.
    """
    if plan not in PLANS:
        raise ValueError(f"There is no plan {plan!r}.")
    with transaction.atomic():
        locked = Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        if locked.plan == plan:
            return False
        audit.record(
            actor=by, action="plan", subject=locked, before={"plan": locked.plan}, after={"plan": plan}, reason=reason
        )
        Account.objects.filter(pk=locked.pk).update(plan=plan)
    account.plan = plan
    return True


def override(
    account: Account, name: str, value: int | None, *, by: User | None, reason: str, expires_at: datetime | None = None
) -> Override:
    """Change one number for an account, until ``expires_at`` or for good. Replaces an earlier change of it."""
    with transaction.atomic():
        Account.objects.select_for_update(no_key=True).get(pk=account.pk)
        made = Override.objects.filter(account=account, name=name).first() or Override(account=account, name=name)
        before = {} if made._state.adding else made.as_shown()  # noqa: SLF001  Django's documented name for it
        made.value, made.reason, made.expires_at, made.created_by = value, reason, expires_at, by
        made.full_clean()
        made.save()
        audit.record(
            actor=by,
            action="override",
            subject=account,
            before=before,
            after=made.as_shown(),
            reason=reason,
        )
    return made


def end_override(override: Override, *, by: User | None) -> None:
    """The plan's number holds again."""
    with transaction.atomic():
        audit.record(
            actor=by, action="override ended", subject=override.account, before=override.as_shown(), after={}, reason=""
        )
        override.delete()
