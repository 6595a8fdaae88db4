"""Registers the checks that belong to the whole and to no app."""

from django.apps import AppConfig


class CodeForgeConfig(AppConfig):
    name = "codeforge"
    verbose_name = "CodeForge"

    def ready(self) -> None:
        from codeforge import checks  # noqa: F401, PLC0415  registers itself; settings are complete only now
