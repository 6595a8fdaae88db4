from dataclasses import replace
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.utils import DatabaseError

from accounts.entitlements import end_override, entitlements, override, set_plan
from accounts.models import Account, AuditEntry, User
from accounts.plans import PLANS, Range
from sandbox.catalogue import catalogue
from sandbox.job import Limits
from tests.cast import PROGRAM, Caller, fields, read, refused
from tests.conftest import Clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> User:
    return User.objects.create_user("ops@example.com", is_staff=True)


def test_the_beta_plan_gives_what_the_front_page_promises(owner: Caller) -> None:
    entitled = entitlements(owner.account)
    assert (entitled.plan, entitled.monthly_runs) == ("beta", 500)
    assert entitled.limits["wall_time_ms"] == Range(10_000, 30_000)
    assert entitled.limits["memory_mb"] == Range(256, 1_024, 16)


def test_every_plan_has_every_limit_and_known_languages() -> None:
    for terms in PLANS.values():
        assert set(terms.limits) == set(Limits.__dataclass_fields__)
        assert terms.languages <= set(catalogue())


def test_a_plan_holds_from_the_next_submission_and_is_written_down(owner: Caller, staff: User) -> None:
    asks = {**PROGRAM, "limits": {"memoryMb": 2_000}}
    refused(owner.post("/v1/executions", asks), 400, "limit_above_plan")

    assert set_plan(owner.account, "pro", by=staff, reason="They pay.")

    assert owner.post("/v1/executions", asks).status_code == 202
    assert read(owner.get("/v1/usage"))["plan"] == "pro"
    entry = AuditEntry.objects.get()
    assert (entry.actor_email, entry.before, entry.after, entry.reason) == (
        "ops@example.com",
        {"plan": "beta"},
        {"plan": "pro"},
        "They pay.",
    )


def test_the_same_plan_again_is_no_change(owner: Caller) -> None:
    assert not set_plan(owner.account, "beta", by=None, reason="x")
    assert not AuditEntry.objects.exists()


def test_a_plan_that_does_not_exist_is_refused(owner: Caller) -> None:
    with pytest.raises(ValueError, match="gold"):
        set_plan(owner.account, "gold", by=None, reason="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        Account.objects.update(plan="gold")


def test_any_single_number_can_be_changed_until_it_expires(owner: Caller, staff: User, clock: Clock) -> None:
    ends = clock.at + timedelta(days=7)
    override(owner.account, "max_concurrency", 50, by=staff, reason="A benchmark week.", expires_at=ends)
    override(owner.account, "limits.wall_time_ms.ceiling", 60_000, by=staff, reason="Slow proofs.")
    assert entitlements(owner.account).max_concurrency == 50
    assert entitlements(owner.account).limits["wall_time_ms"] == Range(10_000, 60_000)

    clock.move(ends)

    assert entitlements(owner.account).max_concurrency == 5
    assert entitlements(owner.account).limits["wall_time_ms"].ceiling == 60_000


def test_none_is_without_limit_and_zero_is_none(owner: Caller) -> None:
    override(owner.account, "monthly_runs", None, by=None, reason="x")
    assert entitlements(owner.account).monthly_runs is None
    override(owner.account, "monthly_runs", 0, by=None, reason="x")
    assert entitlements(owner.account).monthly_runs == 0
    assert owner.account.overrides.count() == 1


def test_a_ceiling_below_the_default_lowers_the_default(owner: Caller) -> None:
    override(owner.account, "limits.memory_mb.ceiling", 64, by=None, reason="x")
    assert entitlements(owner.account).limits["memory_mb"] == Range(64, 64, 16)
    assert owner.submit()["limits"]["memoryMb"] == 64


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("gold", 1, "x"),
        ("monthly_runs", 1, ""),
        ("monthly_runs", -1, "x"),
        ("limits.memory_mb.ceiling", None, "x"),
        ("limits.memory_mb.ceiling", 0, "x"),
    ],
)
def test_an_override_that_makes_no_sense_is_refused(owner: Caller, name: str, value: int | None, reason: str) -> None:
    with pytest.raises(ValidationError):
        override(owner.account, name, value, by=None, reason=reason)


def test_an_override_that_ends_gives_the_plan_back_and_both_are_written_down(owner: Caller, staff: User) -> None:
    made = override(owner.account, "monthly_runs", 9, by=staff, reason="x")
    end_override(made, by=staff)
    assert entitlements(owner.account).monthly_runs == 500
    assert list(AuditEntry.objects.order_by("pk").values_list("action", flat=True)) == ["override", "override ended"]


def test_a_language_that_the_plan_lacks_is_refused_by_name(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "accounts.entitlements.PLANS", {"beta": replace(PLANS["beta"], languages=frozenset({"python", "cpp"}))}
    )
    problem = refused(owner.post("/v1/executions", {**PROGRAM, "language": "java"}), 400, "invalid_request")
    assert fields(problem) == ["language"]
    assert "cpp, python" in problem["detail"]


@pytest.mark.parametrize("change", ["UPDATE accounts_auditentry SET reason = 'y'", "DELETE FROM accounts_auditentry"])
def test_the_audit_log_takes_nothing_back(owner: Caller, change: str) -> None:
    set_plan(owner.account, "pro", by=None, reason="x")
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(change)
    assert AuditEntry.objects.get().reason == "x"
