"""The groups of staff, and what each may do in the admin. Made sure of after every migration."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.management import create_contenttypes

_APPS = ("accounts", "executions")

# Each has what the one before has. `*`: every permission of our apps.
SUPPORT = ("accounts.view_*", "executions.view_*", "accounts.change_betarequest")
OPERATIONS = (*SUPPORT, "accounts.change_account", "accounts.change_apikey", "accounts.delete_override")
ADMIN = ("accounts.*", "executions.*")
GROUPS: Mapping[str, tuple[str, ...]] = {"support": SUPPORT, "operations": OPERATIONS, "admin": ADMIN}


def make_sure_of_groups(**kwargs: Any) -> None:
    """After a migration, and after a flush: permissions that were lost with it are made again first."""
    for label in _APPS:
        config = apps.get_app_config(label)
        create_contenttypes(config, verbosity=0)
        create_permissions(config, verbosity=0)
    known = {
        f"{permission.content_type.app_label}.{permission.codename}": permission
        for permission in Permission.objects.filter(content_type__app_label__in=_APPS).select_related("content_type")
    }
    for name, patterns in GROUPS.items():
        group, _ = Group.objects.get_or_create(name=name)
        group.permissions.set([known[codename] for codename in _matching(known, patterns)])


def _matching(known: Iterable[str], patterns: tuple[str, ...]) -> list[str]:
    return [
        codename
        for codename in known
        if any(codename == one or (one.endswith("*") and codename.startswith(one[:-1])) for one in patterns)
    ]
