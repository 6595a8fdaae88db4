import re
import zlib
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.keys import KeyIsOver, digest, find_key, is_well_formed, make_key, note_use, revoke, rotate
from accounts.models import Account, ApiKey
from accounts.scopes import SCOPES
from tests.cast import Caller, refused
from tests.conftest import Clock

pytestmark = pytest.mark.django_db


@pytest.fixture
def account() -> Account:
    return Account.objects.create(name="A")


def test_a_key_is_recognisable_and_holds_enough_chance(account: Account) -> None:
    key, secret = make_key(account=account, name="k")
    assert re.fullmatch(r"cf_live_[0-9A-Za-z]{42}", secret)
    assert secret.startswith(key.prefix)
    assert len(key.prefix) == 16
    # What is neither shown nor derived: 28 characters of 62 each.
    assert 62**28 > 2**160


def test_a_scanner_can_check_it_without_us(account: Account) -> None:
    _, secret = make_key(account=account, name="k")
    number = 0
    for letter in secret[-6:]:
        number = number * 62 + "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".index(letter)
    assert number == zlib.crc32(secret[:-6].encode())


def test_only_its_hash_is_stored(account: Account) -> None:
    key, secret = make_key(account=account, name="k")
    key.refresh_from_db()
    assert bytes(key.digest) == digest(secret)
    stored = " ".join(str(value) for value in ApiKey.objects.values_list().get())
    assert secret not in stored
    assert secret[16:-6] not in stored


def test_a_mistyped_key_is_refused_without_asking_the_database(
    account: Account, django_assert_num_queries: object
) -> None:
    _, secret = make_key(account=account, name="k")
    wrong = secret[:20] + ("a" if secret[20] != "a" else "b") + secret[21:]
    assert not is_well_formed(wrong)
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert find_key(wrong) is None
        assert find_key("") is None
        assert find_key("cf_live_" + "é" * 42) is None


def test_a_valid_key_is_found_with_its_account_in_one_query(
    account: Account, django_assert_num_queries: object
) -> None:
    _, secret = make_key(account=account, name="k")
    with django_assert_num_queries(1):  # type: ignore[operator]
        found = find_key(secret)
        assert found is not None
        assert found.account == account


def test_use_is_noted_once_a_minute(account: Account) -> None:
    key, secret = make_key(account=account, name="k")
    note_use(key)
    key.refresh_from_db()
    first = key.last_used_at
    assert first is not None
    note_use(key)
    key.refresh_from_db()
    assert key.last_used_at == first

    ApiKey.objects.update(last_used_at=first - timedelta(minutes=2))
    found = find_key(secret)
    assert found
    note_use(found)
    found.refresh_from_db()
    assert found.last_used_at is not None
    assert found.last_used_at >= first


def unauthenticated(caller: Caller) -> dict[str, object]:
    response = caller.get("/v1/usage")
    problem = refused(response, 401, "unauthenticated")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    return {name: value for name, value in problem.items() if name != "requestId"}


def test_every_key_that_does_not_count_is_answered_alike(owner: Caller, visitor: Caller) -> None:
    answers = [unauthenticated(visitor)]
    answers += [
        unauthenticated(Caller(Account(), key)) for key in ("x", owner.key[:-1], owner.key + "x", owner.key[:-1] + "!")
    ]
    unknown, secret = make_key(account=owner.account, name="gone")
    unknown.delete()
    answers.append(unauthenticated(Caller(Account(), secret)))
    _, secret = make_key(account=owner.account, name="old", expires_at=timezone.now())
    answers.append(unauthenticated(Caller(Account(), secret)))
    key, secret = make_key(account=owner.account, name="revoked")
    revoke(key)
    answers.append(unauthenticated(Caller(Account(), secret)))

    assert all(answer == answers[0] for answer in answers)
    assert owner.get("/v1/usage").status_code == 200


@pytest.mark.parametrize("form", ["Basic {}", "{}", "Bearer", "Bearer  ", "Bearer {} x", "bearer\t{}", "Token {}"])
def test_another_form_of_authorization_is_none(owner: Caller, visitor: Caller, form: str) -> None:
    response = visitor.get("/v1/usage", Authorization=form.format(owner.key))
    refused(response, 401, "unauthenticated")


def test_a_key_in_the_query_string_is_none(owner: Caller, visitor: Caller) -> None:
    refused(visitor.get(f"/v1/usage?api_key={owner.key}"), 401, "unauthenticated")


def test_revoking_holds_at_once(owner: Caller) -> None:
    assert owner.get("/v1/usage").status_code == 200
    revoke(ApiKey.objects.get())
    refused(owner.get("/v1/usage"), 401, "unauthenticated")


def test_a_suspended_account_is_told_so_everywhere(owner: Caller) -> None:
    Account.objects.update(suspended_at=timezone.now())
    for path in ("/v1/usage", "/v1/executions"):
        refused(owner.get(path), 403, "account_suspended")


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        ("executions:read", "GET", "/v1/executions"),
        ("executions:write", "POST", "/v1/executions"),
        ("usage:read", "GET", "/v1/usage"),
    ],
)
def test_a_key_does_what_its_scopes_say_and_nothing_else(owner: Caller, scope: str, method: str, path: str) -> None:
    ApiKey.objects.update(scopes=[scope])
    assert owner.request(method, path, b"{}").status_code in {200, 400}
    ApiKey.objects.update(scopes=[other for other in SCOPES if other != scope])
    problem = refused(owner.request(method, path, b"{}"), 403, "insufficient_scope")
    assert problem["scope"] == scope


def test_a_rotated_key_works_until_its_grace_is_over(owner: Caller, clock: Clock) -> None:
    key = ApiKey.objects.get()
    made, secret = rotate(key, grace=timedelta(hours=1))
    successor = Caller(owner.account, secret)
    assert (made.name, made.scopes) == (key.name, key.scopes)
    assert owner.get("/v1/usage").status_code == successor.get("/v1/usage").status_code == 200
    clock.move(hours=1)
    refused(owner.get("/v1/usage"), 401, "unauthenticated")
    assert successor.get("/v1/usage").status_code == 200


def test_rotating_does_not_prolong_the_old_key_and_gives_the_new_one_as_long(account: Account, clock: Clock) -> None:
    key, _ = make_key(account=account, name="k", expires_at=clock.at + timedelta(minutes=5))
    ApiKey.objects.filter(pk=key.pk).update(created_at=clock.at - timedelta(minutes=25))
    made, _ = rotate(key, grace=timedelta(days=1))
    key.refresh_from_db()
    assert key.expires_at == clock.at + timedelta(minutes=5)
    assert made.expires_at == clock.at + timedelta(minutes=30)


def test_what_is_over_is_not_rotated(account: Account) -> None:
    key, _ = make_key(account=account, name="k")
    assert revoke(key)
    assert not revoke(key)
    with pytest.raises(KeyIsOver):
        rotate(key, grace=timedelta())
    assert ApiKey.objects.count() == 1


def test_it_is_noted_from_where_a_key_was_used(owner: Caller) -> None:
    owner.get("/v1/usage")
    assert ApiKey.objects.get().last_used_address == "127.0.0.1"
