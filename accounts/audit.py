"""Who changed what, and why. Written in the transaction of the change; the database refuses to alter or remove it."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from accounts.models import AuditEntry, User


def record(
    *,
    actor: User | None,
    action: str,
    subject: Model,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    reason: str = "",
) -> AuditEntry:
    """One entry. No ``actor``: the service itself. ``before`` and ``after`` hold what JSON can hold, and no secret.

    Names are copied and not referred to: an entry must still say who it was when that person is gone.
    """
    return AuditEntry.objects.create(
        actor_id=actor.pk if actor else None,
        actor_email=actor.email if actor else "",
        action=action,
        subject_type=subject._meta.label_lower,  # noqa: SLF001  Django's own name for it
        subject_id=str(subject.pk),
        subject_name=str(subject)[:200],
        before=dict(before),
        after=dict(after),
        reason=reason,
    )
