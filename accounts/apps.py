from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from accounts import openapi  # noqa: F401, PLC0415  registers itself with the OpenAPI generator
