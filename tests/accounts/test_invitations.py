import re
from functools import partial

import pytest
from django.core import mail
from django.test import Client

from accounts import invitations
from accounts.models import Account, Invitation, Membership, Role, User
from tests.accounts.people import PASSWORD, person, signed_in
from tests.cast import at_once
from tests.conftest import Clock

pytestmark = pytest.mark.django_db

WELCOME = {"name": "Ada", "password": PASSWORD}


@pytest.fixture
def account() -> Account:
    return Account.objects.create(name="Engines & <b>Sons</b>")


def link_to(account: Account, email: str = "ada@example.com", role: str = Role.OWNER) -> str:
    assert invitations.invite(account, email, role=role, by=None)
    found = re.search(r"(/invitations/\S+)", str(mail.outbox[-1].body))
    assert found
    return found[1]


def test_the_link_sets_a_password_and_brings_the_reader_in(account: Account) -> None:
    client, link = Client(), link_to(account)
    shown = client.get(link)
    assert shown.status_code == 200
    assert shown.headers["Cache-Control"]
    assert "ada@example.com" in shown.content.decode()
    assert "<b>Sons" not in shown.content.decode()

    response = client.post(link, WELCOME)

    assert response.headers["Location"] == "/dashboard/welcome"
    assert client.get("/dashboard/welcome").status_code == 200
    user = User.objects.get()
    assert user.check_password(PASSWORD)
    assert Membership.objects.get().role == Role.OWNER
    # The mail proves the address: nothing more to confirm.
    assert (
        Client().post("/sign-in", {"login": "ada@example.com", "password": PASSWORD}).headers["Location"]
        == "/dashboard"
    )


def test_only_the_hash_of_the_token_is_kept(account: Account) -> None:
    token = link_to(account).rpartition("/")[2]
    assert token not in str(Invitation.objects.values().get())


def over(client: Client, link: str) -> str:
    response = client.get(link)
    assert response.status_code == 410
    assert client.post(link, WELCOME).status_code == 410
    return re.sub(r'value="[\w]{64}"', "", response.content.decode())


def test_used_expired_withdrawn_and_altered_links_say_the_same(account: Account, clock: Clock) -> None:
    used = link_to(account)
    Client().post(used, WELCOME)
    withdrawn = link_to(account, "b@example.com")
    invitations.withdraw(Invitation.objects.latest("pk"), by=None)
    replaced = link_to(account, "c@example.com")
    newer = link_to(account, "C@example.com")
    expired = link_to(account, "d@example.com")
    assert Client().get(newer).status_code == 200
    clock.move(days=7)
    answers = {
        over(Client(), link) for link in (used, withdrawn, replaced, expired, newer[:-1], newer + "x", "/invitations/x")
    }
    assert len(answers) == 1
    assert User.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"password": "short"}, "too short"),
        ({"password": "password1234"}, "too common"),
        ({"password": "ada@example.com"}, "too similar"),
        ({"password": ""}, "required"),
        ({"name": ""}, "required"),
        ({"name": "A\nB"}, "in one line"),
    ],
)
def test_a_bad_password_or_name_is_told_and_the_link_still_works(
    account: Account, change: dict[str, str], complaint: str
) -> None:
    link = link_to(account)
    response = Client().post(link, {**WELCOME, **change})
    assert response.status_code == 400
    assert complaint in response.content.decode()
    assert Client().post(link, WELCOME).status_code == 302


def test_somebody_who_has_signed_up_already_joins_when_signed_in(account: Account) -> None:
    ada, link = person("ada@example.com"), link_to(account, "Ada@Example.com", Role.MEMBER)
    assert "Sign in" in Client().get(link).content.decode()
    assert Client().post(link, WELCOME).status_code == 200  # no password is set from here
    assert ada.check_password(PASSWORD)
    assert not Membership.objects.exists()

    client = signed_in(ada)
    assert client.post(link).headers["Location"] == "/dashboard"
    assert Membership.objects.get().user == ada


def test_an_invitation_is_not_for_whoever_else_is_signed_in(account: Account) -> None:
    person("ada@example.com")
    eve = signed_in(person("eve@example.com"))
    link = link_to(account)
    assert "somebody else" in eve.get(link).content.decode()
    eve.post(link)
    assert not Membership.objects.exists()


def test_an_owner_who_is_invited_as_a_member_stays_an_owner(account: Account) -> None:
    ada = person("ada@example.com", account)
    signed_in(ada).post(link_to(account, role=Role.MEMBER))
    assert Membership.objects.get().role == Role.OWNER


def test_a_mail_that_cannot_be_sent_is_reported_and_the_next_one_works(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError("no server")

    with monkeypatch.context() as broken:
        broken.setattr("django.core.mail.EmailMessage.send", fail)
        assert not invitations.invite(account, "ada@example.com", role=Role.OWNER, by=None)
    assert Client().get(link_to(account)).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_link_that_is_used_six_times_at_once_makes_one_person(account: Account) -> None:
    link = link_to(account)
    statuses = at_once([partial(lambda: Client().post(link, WELCOME).status_code)] * 6)
    assert User.objects.count() == Membership.objects.count() == 1
    assert statuses.count(302) >= 1
    assert set(statuses) <= {302, 410, 200}
