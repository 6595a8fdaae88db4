"""`manage.py demo`: the demo account, its people and its key, as JSON."""

import json
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.demo import set_up_demo


class Command(BaseCommand):
    help = "Makes or resets the demo account and prints how to come in. Only with CODEFORGE_DEMO=1."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--key", help="a key of the demo account to keep, if it is still valid")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.CODEFORGE_DEMO:
            raise CommandError("This makes users with known names, so it runs only with CODEFORGE_DEMO=1.")
        self.stdout.write(json.dumps(asdict(set_up_demo(key=options["key"]))))
