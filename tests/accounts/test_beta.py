import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.core.signing import TimestampSigner
from django.test import Client

from accounts import beta
from accounts.entitlements import entitlements
from accounts.models import Account, AuditEntry, BetaRequest, Invitation, User
from accounts.pages import beta as page
from tests.accounts.people import staff
from tests.cast import at_once

pytestmark = pytest.mark.django_db

ASKS = {
    "name": "Ada Lovelace",
    "email": "ada@example.com",
    "organisation": "Analytical Engines",
    "purpose": "Score models.",
    "website": "",
}


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests fill in a form faster than people do. One of them is about that."""
    from datetime import timedelta  # noqa: PLC0415

    monkeypatch.setattr(page, "_FASTEST", timedelta(seconds=-1))


def ask(**changes: str) -> Any:
    opened = TimestampSigner(salt="beta").sign("form")
    return Client().post("/beta", {**ASKS, "opened": opened, **changes})


def asked(**changes: Any) -> BetaRequest:
    beta.ask(**{"name": "Ada", "email": "ada@example.com", "organisation": "", "purpose": "x", **changes})
    return BetaRequest.objects.latest("pk")


def test_a_request_is_kept_and_thanked_for() -> None:
    response = ask()
    assert (response.status_code, response.headers["Location"]) == (302, "/beta/received")
    kept = BetaRequest.objects.get()
    assert (kept.name, kept.email, kept.organisation, kept.purpose, kept.state) == (
        "Ada Lovelace",
        "ada@example.com",
        "Analytical Engines",
        "Score models.",
        "waiting",
    )


def test_a_program_that_fills_in_every_field_is_thanked_and_forgotten() -> None:
    assert ask(website="https://spam.example").headers["Location"] == "/beta/received"
    assert not BetaRequest.objects.exists()


def test_asking_twice_is_answered_alike_and_adds_nothing() -> None:
    assert ask().headers["Location"] == ask(email="ADA@example.com").headers["Location"]
    assert BetaRequest.objects.count() == 1


def test_somebody_who_has_an_account_is_answered_like_everybody() -> None:
    User.objects.create_user("ada@example.com")
    assert ask().headers["Location"] == "/beta/received"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"opened": ""}, "has expired"),
        ({"opened": "form:1vAbCd:nonsense"}, "has expired"),
        ({"name": ""}, "required"),
        ({"name": "x" * 101}, "at most 100"),
        ({"name": "Ada\r\nBcc: all@example.com"}, "in one line"),
        ({"name": "Ada \u202e"}, "in one line"),
        ({"organisation": "a\0b"}, "Null characters"),
        ({"email": "no address"}, "valid email"),
        ({"email": "ada@exаmple.com"}, "ASCII"),  # a Cyrillic letter
        ({"email": "ada@example.com\nBcc: x@example.com"}, "valid email"),
        ({"email": "a" * 250 + "@example.com"}, "at most 254"),
        ({"purpose": "x" * 2_001}, "at most 2000"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_that_was_typed_is_lost(changes: Mapping[str, str], complaint: str) -> None:
    response = ask(**changes)
    shown = response.content.decode()
    assert response.status_code == 400
    assert complaint in shown
    if "purpose" not in changes:
        assert "Score models." in shown
    assert not BetaRequest.objects.exists()


def test_a_form_that_was_filled_in_at_once_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    response = ask()
    assert response.status_code == 400
    assert "very quick" in response.content.decode()
    assert "Score models." in response.content.decode()


def test_hostile_text_is_shown_as_text() -> None:
    response = ask(name="<script>alert(1)</script>", email="x")
    assert "<script>alert(1)" not in response.content.decode()
    assert "&lt;script&gt;alert(1)" in response.content.decode()


def test_one_address_can_ask_ten_times_a_minute() -> None:
    answers = [ask(email=f"ada{number}@example.com").status_code for number in range(11)]
    assert answers == [302] * 10 + [429]
    assert ask().headers["Retry-After"]


def test_approving_makes_an_account_on_the_beta_plan_and_writes_a_mail() -> None:
    by = staff("support")
    account = beta.approve(asked(organisation="Engines").pk, by=by, note="Known to us.")

    assert account is not None
    assert (account.name, entitlements(account).monthly_runs) == ("Engines", 500)
    decided = BetaRequest.objects.get()
    assert (decided.state, decided.decided_by, decided.note, decided.account) == (
        "approved",
        by,
        "Known to us.",
        account,
    )
    assert decided.decided_at is not None
    (letter,) = mail.outbox
    assert letter.to == ["ada@example.com"]
    assert re.search(r"http://localhost:8000/invitations/[\w-]{43}\n", str(letter.body))
    assert AuditEntry.objects.filter(action="beta approved", actor_email=by.email, reason="Known to us.").count() == 1


def test_declining_writes_a_mail_without_the_note() -> None:
    assert beta.decline(asked().pk, by=staff("support"), note="A competitor.")
    assert BetaRequest.objects.get().state == "declined"
    assert "competitor" not in mail.outbox[0].body
    assert not Account.objects.exists()


def test_what_is_decided_stays_decided() -> None:
    by, request = staff("support"), asked()
    assert beta.approve(request.pk, by=by)
    assert beta.approve(request.pk, by=by) is None
    assert not beta.decline(request.pk, by=by)
    assert Account.objects.count() == Invitation.objects.count() == len(mail.outbox) == 1


@pytest.mark.django_db(transaction=True)
def test_eight_approvals_at_once_make_one_account_and_one_mail() -> None:
    by, request = staff("support"), asked()
    made = at_once([partial(beta.approve, request.pk, by=by)] * 8)
    assert sum(account is not None for account in made) == 1
    assert Account.objects.count() == Invitation.objects.count() == len(mail.outbox) == 1


@pytest.mark.django_db(transaction=True)
def test_control_approving_without_the_lock_makes_several() -> None:
    import threading  # noqa: PLC0415

    request = asked()
    looked = threading.Barrier(4)

    def naive() -> None:
        waiting = BetaRequest.objects.filter(pk=request.pk, state="waiting").exists()
        looked.wait(timeout=30)
        if waiting:
            Account.objects.create(name="again")

    at_once([naive] * 4)
    assert Account.objects.count() > 1


def test_a_name_that_would_begin_a_header_stays_in_its_line() -> None:
    beta.approve(asked(organisation="Evil\r\nBcc: all@example.com").pk, by=staff("support"))
    (letter,) = mail.outbox
    assert "\n" not in letter.subject
    assert letter.recipients() == ["ada@example.com"]
