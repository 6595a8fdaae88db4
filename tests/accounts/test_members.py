from functools import partial

import pytest
from django.core import mail
from django.test import Client

from accounts import members
from accounts.models import Account, AuditEntry, Membership, Role
from tests.accounts.people import person, signed_in
from tests.cast import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def account() -> Account:
    return Account.objects.create(name="Engines")


def test_an_owner_invites_a_colleague(account: Account) -> None:
    owner = signed_in(person("owner@example.com", account))
    page = owner.post("/dashboard/members/invite", {"email": "new@Example.com", "role": "member"}, follow=True)
    assert "We have written to new@example.com" in page.content.decode()
    assert mail.outbox[0].to == ["new@example.com"]
    assert "owner@example.com" in mail.outbox[0].body


def test_a_member_sees_everybody_and_changes_nobody(account: Account) -> None:
    owner = person("owner@example.com", account)
    member = signed_in(person("member@example.com", account, role=Role.MEMBER))
    assert "owner@example.com" in member.get("/dashboard/members").content.decode()
    for path in ("invite", f"{owner.pk}/role", f"{owner.pk}/remove"):
        assert (
            member.post(f"/dashboard/members/{path}", {"email": "x@example.com", "role": "member"}).status_code == 403
        )
    assert member.post("/dashboard/account/name", {"name": "Mine"}).status_code == 403
    assert not mail.outbox


def test_the_last_owner_stays(account: Account) -> None:
    owner = person("owner@example.com", account)
    client = signed_in(owner)
    for path in ("remove", "role"):
        page = client.post(f"/dashboard/members/{owner.pk}/{path}", {"role": "member"}, follow=True)
        assert "needs an owner" in page.content.decode()
    assert Membership.objects.get().role == Role.OWNER


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_remove_each_other_at_once_leave_one(account: Account) -> None:
    one, two = person("one@example.com", account), person("two@example.com", account)

    def remove(by: object, whom: object) -> None:
        try:
            members.remove(account, whom.pk, by=by)  # type: ignore[attr-defined, arg-type]
        except members.LastOwner:
            return

    at_once([partial(remove, one, two), partial(remove, two, one)])
    assert Membership.objects.count() == 1


def test_who_is_removed_sees_nothing_any_more_and_it_is_written_down(account: Account) -> None:
    owner, member = person("owner@example.com", account), person("member@example.com", account, role=Role.MEMBER)
    gone = signed_in(member)
    assert gone.get("/dashboard").status_code == 200
    signed_in(owner).post(f"/dashboard/members/{member.pk}/remove")
    assert gone.get("/dashboard").status_code == 403
    assert AuditEntry.objects.get().before == {"email": "member@example.com", "role": "member"}


def test_somebody_of_another_account_is_not_there(account: Account) -> None:
    other = person("other@example.com", Account.objects.create(name="Other"))
    owner = signed_in(person("owner@example.com", account))
    assert owner.post(f"/dashboard/members/{other.pk}/remove").status_code == 404
    assert owner.post("/dashboard/account/choose", {"account": other.memberships.get().account_id}).status_code == 404


def test_a_person_of_two_accounts_chooses_which_she_looks_at(account: Account) -> None:
    ada = person("ada@example.com", account)
    second = Account.objects.create(name="Second")
    Membership.objects.create(account=second, user=ada, role=Role.MEMBER)
    client = signed_in(ada)
    assert "<h1>Engines</h1>" in client.get("/dashboard").content.decode()
    client.post("/dashboard/account/choose", {"account": second.pk})
    assert "<h1>Second</h1>" in client.get("/dashboard").content.decode()


def test_an_account_is_renamed_and_a_bad_name_is_kept_in_the_form(account: Account) -> None:
    owner = signed_in(person("owner@example.com", account))
    response = owner.post("/dashboard/account/name", {"name": "x" * 101})
    assert response.status_code == 400
    assert "x" * 101 in response.content.decode()
    owner.post("/dashboard/account/name", {"name": "New <name>"})
    account.refresh_from_db()
    assert account.name == "New <name>"
    assert "New &lt;name&gt;" in owner.get("/dashboard/account").content.decode()


@pytest.mark.parametrize("path", ["", "/runs", "/usage", "/keys", "/members", "/account", "/welcome"])
def test_a_stranger_is_sent_to_sign_in_and_comes_back(path: str) -> None:
    assert Client().get(f"/dashboard{path}").headers["Location"] == f"/sign-in?next=/dashboard{path}"
