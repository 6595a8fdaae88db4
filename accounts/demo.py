"""An account to try things with on one's own machine."""

import secrets
from dataclasses import dataclass

from allauth.account.models import EmailAddress
from django.db import transaction

from accounts import beta
from accounts.keys import find_key, make_key
from accounts.models import Account, ApiKey, Membership, Override, Role, User

NAME = "Demo"
STAFF = "staff@codeforge.localhost"
MEMBER = "member@codeforge.localhost"
ASKS = "ada@example.com"
NUMBERS = {"monthly_runs": None, "max_concurrency": 8, "max_queued": 10_000}


@dataclass(frozen=True, slots=True)
class Demo:
    """What is needed to come in. The passwords are new each time."""

    api_key: str
    staff_email: str
    staff_password: str
    member_email: str
    member_password: str


@transaction.atomic
def set_up_demo(*, key: str | None = None) -> Demo:
    """Make or reset the demo account: no run quota, eight at once, room for 10,000. A valid ``key`` of it is kept."""
    staff, staff_password = _person(STAFF, staff=True)
    member, member_password = _person(MEMBER, staff=False)
    membership = Membership.objects.filter(user=member).select_related("account").order_by("pk").first()
    account = membership.account if membership else Account(name=NAME)
    account.suspended_at = None
    account.save()
    for number, value in NUMBERS.items():
        Override.objects.update_or_create(
            account=account, name=number, defaults={"value": value, "reason": "Demo", "expires_at": None}
        )
    Membership.objects.get_or_create(account=account, user=member, defaults={"role": Role.OWNER})

    beta.ask(
        name="Ada Example",
        email=ASKS,
        organisation="Example Research",
        purpose="Score five models on a benchmark of ours, 164 problems in four languages, every night.",
    )
    kept = find_key(key) if key else None
    if key is None or kept is None or kept.account_id != account.pk:
        ApiKey.objects.filter(account=account, name=NAME).delete()
        _, key = make_key(account=account, name=NAME)
    return Demo(key, staff.email, staff_password, member.email, member_password)


def _person(email: str, *, staff: bool) -> tuple[User, str]:
    password = secrets.token_urlsafe(15)
    user = User.objects.filter(email__iexact=email).first() or User(email=email)
    user.is_staff = user.is_superuser = staff
    user.is_active = True
    user.set_password(password)
    user.save()
    EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    return user, password
