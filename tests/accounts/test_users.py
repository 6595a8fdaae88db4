import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.hashers import identify_hasher
from django.db import IntegrityError

from accounts.models import User
from codeforge import settings as production

pytestmark = pytest.mark.django_db


def test_people_sign_in_with_their_address_in_any_case() -> None:
    User.objects.create_user("Ann@Example.com", "a long enough password")
    assert authenticate(username="ann@example.COM", password="a long enough password") is not None
    assert authenticate(username="ann@example.com", password="another password") is None


def test_an_address_is_used_once_whatever_its_case() -> None:
    User.objects.create_user("ann@example.com")
    with pytest.raises(IntegrityError):
        User.objects.create_user("ANN@example.com")


def test_passwords_are_hashed_with_argon2(settings: object) -> None:
    settings.PASSWORD_HASHERS = production.PASSWORD_HASHERS  # type: ignore[attr-defined]
    user = User.objects.create_user("ann@example.com", "a long enough password")
    assert identify_hasher(user.password).algorithm == "argon2"
