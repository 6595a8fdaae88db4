"""`manage.py doctor`: what is wrong with this machine, and how to mend it."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from executions.doctor import examine


class Command(BaseCommand):
    help = "Checks database, Redis, Docker, gVisor, and runs a program of each language for each status."
    # A database that does not answer is a finding, not a reason to stop.
    requires_system_checks = ()
    requires_migrations_checks = False

    def handle(self, *args: Any, **options: Any) -> None:
        wrong = 0
        for finding in examine():
            if finding.problem is None:
                self.stdout.write(f"✓ {finding.name}")
            else:
                wrong += 1
                self.stdout.write(f"✗ {finding.name}: {finding.problem}\n    {finding.remedy}")
            self.stdout.flush()
        if wrong:
            raise CommandError("1 thing is wrong." if wrong == 1 else f"{wrong} things are wrong.")
