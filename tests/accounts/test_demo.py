import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from accounts.entitlements import entitlements
from accounts.keys import find_key
from accounts.models import Account, ApiKey, Membership, User
from tests.cast import allow

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def allowed(settings: Any) -> None:
    settings.CODEFORGE_DEMO = True


def demo(*arguments: str) -> dict[str, str]:
    output = StringIO()
    call_command("demo", *arguments, stdout=output)
    made: dict[str, str] = json.loads(output.getvalue())
    return made


def test_the_demo_can_be_used_as_it_is_printed() -> None:
    made = demo()

    assert set(made) == {"api_key", "staff_email", "staff_password", "member_email", "member_password"}
    key = find_key(made["api_key"])
    assert key is not None
    account = key.account
    entitled = entitlements(account)
    assert (entitled.monthly_runs, entitled.max_concurrency, entitled.max_queued) == (None, 8, 10_000)
    staff = authenticate(username=made["staff_email"], password=made["staff_password"])
    member = authenticate(username=made["member_email"], password=made["member_password"])
    assert isinstance(staff, User)
    assert staff.is_staff
    assert isinstance(member, User)
    assert not member.is_staff
    assert Membership.objects.filter(account=account, user=member).exists()


def test_again_it_resets_and_does_not_add() -> None:
    first = demo()
    allow(monthly_runs=1, max_concurrency=1)
    second = demo()
    assert Account.objects.count() == 1
    assert User.objects.count() == 2
    assert ApiKey.objects.count() == 1
    assert find_key(first["api_key"]) is None
    assert find_key(second["api_key"]) is not None
    assert entitlements(Account.objects.get()).monthly_runs is None


def test_a_valid_key_is_kept_and_another_is_not() -> None:
    first = demo()
    assert demo("--key", first["api_key"])["api_key"] == first["api_key"]
    assert demo("--key", "cf_live_nonsense")["api_key"] not in {first["api_key"], "cf_live_nonsense"}


def test_it_runs_only_where_it_is_allowed(settings: Any) -> None:
    settings.CODEFORGE_DEMO = False
    with pytest.raises(CommandError, match="CODEFORGE_DEMO"):
        call_command("demo")
    assert not User.objects.exists()
