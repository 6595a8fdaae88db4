"""Registers the checks that belong to the whole and to no app."""

from django.apps import AppConfig
from django.contrib.admin.apps import AdminConfig


class CodeForgeConfig(AppConfig):
    name = "codeforge"
    verbose_name = "CodeForge"

    def ready(self) -> None:
        from codeforge import checks  # noqa: F401, PLC0415  registers itself; settings are complete only now


class StaffAdminConfig(AdminConfig):
    """Django's admin, with our entrance and first page."""

    default_site = "codeforge.staff.StaffSite"
