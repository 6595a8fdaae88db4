from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import openapi  # noqa: F401, PLC0415  registers itself with the OpenAPI generator
        from accounts.groups import make_sure_of_groups  # noqa: PLC0415

        post_migrate.connect(make_sure_of_groups, sender=self)
