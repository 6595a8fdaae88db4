"""The closed beta: people ask, staff decide, and who is let in gets an account and a mail with the way in."""

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import audit, invitations, mail
from accounts.models import Account, BetaRequest, Role, User

State = BetaRequest.State


def ask(*, name: str, email: str, organisation: str, purpose: str) -> None:
    """Note a request. While one of the same address waits, another adds nothing; whoever asks is not told which."""
    try:
        with transaction.atomic():
            BetaRequest.objects.create(name=name, email=email, organisation=organisation, purpose=purpose)
    except IntegrityError:
        return


def approve(request_id: int, *, by: User, note: str = "") -> Account | None:
    """Make an account on the beta plan and write to the person. None when it had been decided already.

    The lock makes the second of two approvals find the first one's decision: one account, one mail.
    """
    with transaction.atomic():
        asked = _waiting(request_id)
        if asked is None:
            return None
        account = Account.objects.create(name=asked.organisation or asked.name)
        _decide(asked, State.APPROVED, by=by, note=note, account=account)
        letter = invitations.write(account, asked.email, role=Role.OWNER, by=None)
    letter.send()
    return account


def decline(request_id: int, *, by: User, note: str = "") -> bool:
    """Say no, in a mail without the note. False when it had been decided already."""
    with transaction.atomic():
        asked = _waiting(request_id)
        if asked is None:
            return False
        _decide(asked, State.DECLINED, by=by, note=note, account=None)
    mail.send("beta_declined", to=asked.email, context={"name": mail.one_line(asked.name)})
    return True


def _waiting(request_id: int) -> BetaRequest | None:
    return BetaRequest.objects.select_for_update().filter(pk=request_id, state=State.WAITING).first()


def _decide(asked: BetaRequest, state: str, *, by: User, note: str, account: Account | None) -> None:
    BetaRequest.objects.filter(pk=asked.pk).update(
        state=state, decided_by=by, decided_at=timezone.now(), note=note, account=account
    )
    audit.record(
        actor=by,
        action=f"beta {state}",
        subject=asked,
        before={"state": State.WAITING},
        after={"state": state, "account": account and account.pk},
        reason=note,
    )
