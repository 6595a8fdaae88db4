"""A real worker process on the tests' own database and broker."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from django.db import connection

from executions.models import Worker

ROOT = Path(__file__).parents[1]


class Process:
    """A worker, ready when made. ``app`` is the one that runs nothing, or `codeforge`, which has the real sandbox."""

    def __init__(self, log: Path, *, concurrency: int, app: str = "tests.fake_worker") -> None:
        self.log = log
        known = set(Worker.objects.values_list("pk", flat=True))
        name = connection.settings_dict["NAME"]
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": re.sub(r"(//[^/]*/)[^?]*", rf"\g<1>{quote(name)}", os.environ["DATABASE_URL"]),
        }
        command = [sys.executable, "-m", "celery", "--app", app, "--quiet", "worker"]
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [*command, "--concurrency", str(concurrency)], cwd=ROOT, env=environment, stdout=output, stderr=output
            )
        until(lambda: Worker.objects.exclude(pk__in=known).exists() or self.process.poll() is not None, self.said)
        assert self.process.poll() is None, self.said()

    def said(self) -> str:
        return self.log.read_text(errors="replace")[-3000:]

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=20)


def until(true: Callable[[], object], said: Callable[[], str] = str, *, within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, said()
        time.sleep(0.02)
