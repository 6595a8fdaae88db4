import re

import pytest
from django.test import Client

from accounts.models import Account, ApiKey, AuditEntry
from tests.accounts.people import person, signed_in
from tests.cast import Caller
from tests.conftest import Clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def account() -> Account:
    return Account.objects.create(name="Engines")


@pytest.fixture
def member(account: Account) -> Client:
    return signed_in(person("member@example.com", account))


def make(member: Client, **fields: object) -> str:
    page = member.post("/dashboard/keys/new", {"name": "CI", "scopes": ["usage:read"], "expires": "", **fields})
    assert page.status_code == 200, page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]
    found = re.search(r"cf_live_\w{42}", page.content.decode())
    assert found
    return found[0]


def test_a_key_is_made_shown_once_and_works(member: Client, account: Account) -> None:
    secret = make(member)
    assert Caller(account, secret).get("/v1/usage").status_code == 200
    assert Caller(account, secret).get("/v1/executions").status_code == 403
    listed = member.get("/dashboard/keys").content.decode()
    assert secret not in listed
    assert secret[:16] in listed
    assert secret not in str(list(AuditEntry.objects.values()))


def test_a_key_expires_when_it_was_said_to(member: Client, account: Account, clock: Clock) -> None:
    caller = Caller(account, make(member, expires="7"))
    clock.move(days=6)
    assert caller.get("/v1/usage").status_code == 200
    clock.move(days=1)
    assert caller.get("/v1/usage").status_code == 401


def test_a_rotated_key_has_a_successor_and_a_grace(member: Client, account: Account, clock: Clock) -> None:
    old = make(member)
    page = member.post(f"/dashboard/keys/{ApiKey.objects.get().pk}/rotate", {"grace": "1"})
    (new,) = re.findall(r"cf_live_\w{42}", page.content.decode())
    assert [Caller(account, secret).get("/v1/usage").status_code for secret in (old, new)] == [200, 200]
    clock.move(hours=1)
    assert [Caller(account, secret).get("/v1/usage").status_code for secret in (old, new)] == [401, 200]


def test_a_revoked_key_is_refused_at_once(member: Client, account: Account) -> None:
    secret = make(member)
    page = member.post(f"/dashboard/keys/{ApiKey.objects.get().pk}/revoke", follow=True)
    assert "revoked" in page.content.decode()
    assert Caller(account, secret).get("/v1/usage").status_code == 401
    again = member.post(f"/dashboard/keys/{ApiKey.objects.get().pk}/rotate", {"grace": "1"}, follow=True)
    assert "make a new one" in again.content.decode()


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"name": "x" * 101},
        {"name": "a\nb"},
        {"scopes": []},
        {"scopes": ["everything"]},
        {"expires": "1000"},
    ],
)
def test_a_key_that_makes_no_sense_is_refused_and_the_form_stays(member: Client, fields: dict[str, object]) -> None:
    response = member.post("/dashboard/keys/new", {"name": "CI", "scopes": ["usage:read"], "expires": "", **fields})
    assert response.status_code == 400
    assert "errorlist" in response.content.decode()
    assert not ApiKey.objects.exists()


def test_a_key_of_another_account_is_not_there(member: Client, owner: Caller) -> None:
    key = ApiKey.objects.get()
    for action in ("revoke", "rotate"):
        assert member.post(f"/dashboard/keys/{key.pk}/{action}", {"grace": "0"}).status_code == 404
    assert owner.get("/v1/usage").status_code == 200


def test_a_form_from_another_site_is_refused(account: Account) -> None:
    user = person("member@example.com", account)
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    assert client.post("/dashboard/keys/new", {"name": "x", "scopes": ["usage:read"]}).status_code == 400
    assert not ApiKey.objects.exists()
