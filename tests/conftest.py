"""The cast: `owner` and `stranger` have accounts and keys, `visitor` has none, `workbench` runs what was accepted."""

import logging
import os
import time
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.backends.postgresql.operations import DatabaseOperations
from django.utils import timezone

from tests.cast import Broker, Caller, Workbench


def pytest_addoption(parser: pytest.Parser) -> None:
    # Here, because pytest asks only the first conftest of the paths that it is given.
    parser.addoption(
        "--rounds", type=int, default=1, help="how many times the table of verdicts must be right in a row"
    )


def pytest_configure(config: pytest.Config) -> None:
    if not os.environ.get("TESTS_HAVE_SERVICES"):
        pytest.exit(
            "These tests need PostgreSQL and Redis: run `make test`, or `make services` and `source var/env`.", 2
        )


@pytest.fixture(scope="session")
def session_broker() -> Iterator[Broker]:
    made = Broker()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def broker(session_broker: Broker) -> Broker:
    """Empty at the beginning of each test."""
    session_broker.forget_everything()
    return session_broker


def _delete(self: Any, style: Any, tables: Iterable[str], **options: Any) -> list[str]:
    # But the audit log lets nobody delete a row of it.
    append_only = {"accounts_auditentry"}
    return [f'{"TRUNCATE" if table in append_only else "DELETE FROM"} "{table}"' for table in sorted(tables)]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """The database is removed at the end, so nobody may still listen to it."""
    # Between tests: TRUNCATE makes new files for every table, DELETE of a few rows costs next to nothing.
    flush = DatabaseOperations.sql_flush
    DatabaseOperations.sql_flush = _delete  # type: ignore[method-assign]
    yield
    DatabaseOperations.sql_flush = flush  # type: ignore[method-assign]
    from executions import waiting  # noqa: PLC0415  settings first

    if waiting._waiters is not None:
        waiting._waiters.close()


@pytest.fixture(autouse=True)
def broker_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test did to the broker's reputation is no matter of the next."""
    monkeypatch.setattr("executions.dispatch._broker_rests_until", 0.0)


@pytest.fixture(autouse=True)
def rates_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with the broker: a test in which Redis is away must not switch the counting off for the next.

    And within one minute, for as long as a test takes: what it counts must not begin anew in the middle.
    """
    monkeypatch.setattr("accounts.rates._rests_until", 0.0)
    now = time.time()
    monkeypatch.setattr("django_ratelimit.core.time", SimpleNamespace(time=lambda: now))


@pytest.fixture(autouse=True)
def mails_are_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by another thread, which a test would have to wait for. One test is about that thread."""
    monkeypatch.setattr("accounts.mail.post", lambda message: message.send())


class Clock:
    """What `timezone.now()` says. It stands still until it is moved."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def move(self, to: datetime | None = None, **by: float) -> None:
        self.at = to or self.at + timedelta(**by)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Our clock, not the database's: for months, expiries and everything else that is counted in days."""
    made = Clock(timezone.now())
    monkeypatch.setattr(timezone, "now", lambda: made.at)
    return made


@pytest.fixture
def visitor() -> Caller:
    from accounts.models import Account  # noqa: PLC0415  settings first

    return Caller(Account(), "")


@pytest.fixture
def owner(db: None) -> Caller:
    return Caller.with_account("Owner")


@pytest.fixture
def stranger(db: None) -> Caller:
    return Caller.with_account("Stranger")


@pytest.fixture
def workbench(db: None) -> Workbench:
    """A worker of this process, without Celery: runs what is admitted when it is told to."""
    return Workbench()


@pytest.fixture
def log_text(tmp_path: Path) -> Iterator[Any]:
    """All that is logged while the test runs, at the lowest level, as our formatters write it."""
    from codeforge.logs import JsonFormatter, LineFormatter  # noqa: PLC0415  settings first
    from codeforge.settings import LOGGING  # noqa: PLC0415

    files = []
    handlers = []
    for formatter in (LineFormatter(), JsonFormatter()):
        path = tmp_path / f"{type(formatter).__name__}.log"
        handler = logging.FileHandler(path, encoding="utf-8")
        handler.setFormatter(formatter)
        handlers.append(handler)
        files.append(path)
    names: list[str] = ["", *list(LOGGING["loggers"])]  # type: ignore[call-overload]
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    for handler in handlers:
        logging.getLogger().addHandler(handler)
    yield lambda: "".join(path.read_text(encoding="utf-8") for path in files)
    for handler in handlers:
        logging.getLogger().removeHandler(handler)
        handler.close()
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
