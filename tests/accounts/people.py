"""People for the tests of pages: with an account or without, and staff of each group."""

from django.contrib.auth.models import Group
from django.test import Client

from accounts.groups import make_sure_of_groups
from accounts.models import Account, Membership, Role, User

PASSWORD = "correct horse battery staple"


def person(email: str, account: Account | None = None, *, role: str = Role.OWNER) -> User:
    from allauth.account.models import EmailAddress  # noqa: PLC0415  settings first

    user = User.objects.create_user(email, PASSWORD, name=email.partition("@")[0])
    EmailAddress.objects.create(user=user, email=email, verified=True, primary=True)
    if account is not None:
        Membership.objects.create(account=account, user=user, role=role)
    return user


def staff(group: str) -> User:
    user = person(f"{group}@codeforge.example")
    user.is_staff = True
    if group == "superuser":
        user.is_superuser = True
    user.save()
    if group != "superuser":
        make_sure_of_groups()
        user.groups.add(Group.objects.get(name=group))
    return user


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client
