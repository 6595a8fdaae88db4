import re
import threading
from typing import Any

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core import mail
from django.core.mail import EmailMessage
from django.test import Client

from accounts.mail import post as accounts_mail_post
from accounts.models import Account, User
from tests.accounts.people import PASSWORD, person, signed_in, staff

pytestmark = pytest.mark.django_db


def sign_in(email: str, password: str = PASSWORD, client: Client | None = None) -> Any:
    return (client or Client()).post("/sign-in", {"login": email, "password": password})


def test_the_right_password_opens_the_dashboard_whatever_the_case_of_the_address() -> None:
    person("ada@example.com", Account.objects.create(name="A"))
    client = Client()
    assert sign_in("ADA@Example.com", client=client).headers["Location"] == "/dashboard"
    assert client.get("/dashboard").status_code == 200


def words(response: Any) -> str:
    return re.sub(r'value="[^"]*"', "", response.content.decode())


def test_a_wrong_password_and_an_unknown_address_are_answered_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """In words and in time: what takes the time is hashing, so it is done as often."""
    person("ada@example.com")
    hashed = 0
    encode = MD5PasswordHasher.encode

    def counted(self: MD5PasswordHasher, password: str, salt: str) -> str:
        nonlocal hashed
        hashed += 1
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counted)
    known = sign_in("ada@example.com", "wrong")
    hashed_for_known, hashed = hashed, 0
    unknown = sign_in("eve@example.com", "wrong")
    assert words(known) == words(unknown)
    assert hashed == hashed_for_known == 1


def test_asking_for_a_new_password_is_answered_alike_and_only_the_known_get_a_mail() -> None:
    person("ada@example.com")
    known = Client().post("/password", {"email": "ada@example.com"})
    assert len(mail.outbox) == 1
    unknown = Client().post("/password", {"email": "eve@example.com"})
    assert (known.status_code, known.headers["Location"]) == (unknown.status_code, unknown.headers["Location"])
    assert len(mail.outbox) == 1


def test_the_answer_does_not_wait_for_the_mail_and_so_tells_nothing_by_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    person("ada@example.com")
    answered, sent = threading.Event(), threading.Event()

    def slow(message: EmailMessage) -> None:
        assert answered.wait(timeout=60)
        sent.set()

    monkeypatch.setattr("accounts.mail.post", accounts_mail_post)
    monkeypatch.setattr(EmailMessage, "send", slow)
    assert Client().post("/password", {"email": "ada@example.com"}).status_code == 302
    assert not sent.is_set()
    answered.set()
    assert sent.wait(timeout=60)


def test_a_forgotten_password_is_set_by_the_link_of_a_mail_once() -> None:
    user = person("ada@example.com")
    Client().post("/password", {"email": "ada@example.com"})
    found = re.search(r"http://\S+?(/password/set/\S+)", str(mail.outbox[0].body))
    assert found
    client = Client()
    form = client.get(found[1], follow=True)
    new = "another long password 1"
    client.post(form.request["PATH_INFO"], {"password1": new, "password2": new})
    user.refresh_from_db()
    assert user.check_password(new)
    assert "password" in Client().get(found[1]).content.decode().lower()
    late = Client()
    late.get(found[1], follow=True)
    user.refresh_from_db()
    assert user.check_password(new)


def test_an_address_that_nobody_has_proved_does_not_sign_in() -> None:
    User.objects.create_user("new@example.com", PASSWORD)
    client = Client()
    assert sign_in("new@example.com", client=client).headers["Location"] == "/e-mail"
    assert client.get("/dashboard").status_code == 302
    assert mail.outbox[0].to == ["new@example.com"]


def test_nobody_signs_up_without_an_invitation() -> None:
    assert Client().get("/sign-up").headers["Location"] == "/beta"
    assert Client().post("/sign-up", {"email": "x@example.com", "password1": PASSWORD}).status_code == 302
    assert not User.objects.exists()


def test_one_address_has_twenty_tries_a_minute() -> None:
    statuses = [sign_in("ada@example.com", "wrong").status_code for _ in range(21)]
    assert statuses == [200] * 20 + [429]


def test_a_second_factor_is_asked_for_once_it_is_on() -> None:
    user = person("ada@example.com", Account.objects.create(name="A"))
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(user, secret)
    client = Client()
    assert sign_in("ada@example.com", client=client).headers["Location"].startswith("/sign-in/second-factor")
    assert client.get("/dashboard").status_code == 302
    assert client.post("/sign-in/second-factor", {"code": "000000"}).status_code == 200
    code = totp.format_hotp_value(totp.hotp_value(secret, next(iter(totp.yield_hotp_counters_from_time()))))
    assert client.post("/sign-in/second-factor", {"code": code}).headers["Location"] == "/dashboard"


def test_a_recovery_code_comes_in_when_the_telephone_is_lost() -> None:
    user = person("ada@example.com", Account.objects.create(name="A"))
    totp.TOTP.activate(user, totp.generate_totp_secret())
    code = RecoveryCodes.activate(user).get_unused_codes()[0]
    client = Client()
    sign_in("ada@example.com", client=client)
    assert client.post("/sign-in/second-factor", {"code": code}).headers["Location"] == "/dashboard"


def test_the_admin_opens_for_staff_with_a_second_factor_when_the_setting_says_so(settings: Any) -> None:
    settings.CODEFORGE_STAFF_SECOND_FACTOR = True
    user = staff("superuser")
    client = signed_in(user)
    page = client.get("/admin/", follow=True)
    assert page.request["PATH_INFO"] == "/second-factor"
    assert "switch one on" in page.content.decode()
    totp.TOTP.activate(user, totp.generate_totp_secret())
    assert client.get("/admin/").status_code == 200


def test_the_admin_sends_strangers_to_sign_in_and_members_away() -> None:
    assert Client().get("/admin/login/?next=/admin/").headers["Location"].startswith("/sign-in?next=")
    assert signed_in(person("ada@example.com")).get("/admin/login/").status_code == 403


@pytest.mark.parametrize(
    "path",
    [
        "/sign-in",
        "/password",
        "/password/sent",
        "/password/done",
        "/beta",
        "/beta/received",
        "/e-mail",
        "/sign-in/inactive",
    ],
)
def test_pages_before_signing_in_open_and_hold_no_script(path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 200
    assert "<script" not in response.content.decode()
    assert "style=" not in response.content.decode()


def test_pages_of_ones_own_sign_in_open() -> None:
    client = signed_in(person("ada@example.com", Account.objects.create(name="A")))
    for path in ("/password/change", "/second-factor"):
        assert client.get(path).status_code == 200, path
    # allauth asks for the password again before it touches the second factor.
    assert client.get("/second-factor/on").headers["Location"].startswith("/sign-in/again")
    assert client.get("/sign-out").status_code == 200
    assert client.post("/sign-out").headers["Location"] == "/"
