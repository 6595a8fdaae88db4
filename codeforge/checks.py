"""System checks of the whole: `manage.py check` and every start run them."""

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Caution


@register(Tags.security)
def secret_key_is_long(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if len(settings.SECRET_KEY) >= 50:
        return []
    return [Error("CODEFORGE_SECRET_KEY is shorter than 50 characters.", id="codeforge.E001")]


@register(Tags.security)
def debug_is_not_public(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if not (settings.DEBUG and settings.ENCRYPTED):
        return []
    return [
        Error(
            "CODEFORGE_DEBUG is on while CODEFORGE_BASE_URL is public: error pages would show program text.",
            id="codeforge.E002",
        )
    ]


@register(Tags.security)
def sandbox_isolates(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if settings.CODEFORGE_INSECURE_RUNTIME is None:
        return []
    return [
        Caution(
            "CODEFORGE_INSECURE_RUNTIME is set: programs are not isolated from this machine.",
            hint="Unset it wherever programs of strangers may run.",
            id="codeforge.W001",
        )
    ]


@register(Tags.security)
def webhooks_stay_outside(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if not settings.CODEFORGE_INSECURE_WEBHOOKS:
        return []
    return [
        Caution(
            "CODEFORGE_INSECURE_WEBHOOKS is set: customers can make this machine ask its own network.",
            hint="Unset it wherever others than yourself have accounts.",
            id="codeforge.W004",
        )
    ]


@register(Tags.security)
def mail_arrives(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    if not settings.ENCRYPTED or "filebased" not in settings.EMAIL_BACKEND:
        return []
    return [
        Caution(
            "Mails are written to files: nobody who is invited will hear of it.",
            hint="Set CODEFORGE_MAIL_URL.",
            id="codeforge.W003",
        )
    ]


@register(Tags.security)
def waiters_leave_room(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    from codeforge.gunicorn import threads  # noqa: PLC0415  it reads the environment

    if threads > settings.CODEFORGE_MAX_WAITERS:
        return []
    return [
        Caution(
            "CODEFORGE_MAX_WAITERS is not below CODEFORGE_WEB_THREADS: waiting requests could take every thread.",
            id="codeforge.W002",
        )
    ]
