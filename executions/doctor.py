"""Looks at everything that a run needs, from the database to a program of each language, and says how to mend it."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from executions import worker
from executions.models import Worker
from sandbox import selftest
from sandbox.catalogue import catalogue
from sandbox.errors import EngineUnavailable, ImageMissing, SandboxError, SandboxNotIsolated
from sandbox.evaluator import Evaluator


@dataclass(frozen=True, slots=True)
class Finding:
    """``problem`` is None when all is well; ``remedy`` says what to do."""

    name: str
    problem: str | None = None
    remedy: str = ""


def examine() -> Iterator[Finding]:
    """Findings as they are made: the last ones take a minute."""
    yield _look(
        "Database", _database, "Is PostgreSQL running, and does DATABASE_URL name it? `make services` starts one."
    )
    yield _look("Migrations", _migrations, "Run `manage.py migrate`.")
    yield _look("Redis", _redis, "Is Redis running, and does REDIS_URL name it? `make services` starts one.")
    with contextlib.suppress(DatabaseError):  # which has been told above
        for alive in Worker.objects.filter(stopped_at=None):
            yield Finding(f"Worker {alive}: {_told(alive.pool)}")
    try:
        evaluator = worker.connect(worker=worker.name_visitor("doctor"), concurrency=1)
    except SandboxError as error:
        yield Finding("Sandbox", f"{error.code}: {error}", _remedy(error))
        return
    try:
        yield Finding("Sandbox")
        yield from _runtimes(evaluator)
    finally:
        evaluator.close()


def _told(pool: Mapping[str, Mapping[str, int]]) -> str:
    """The sandboxes of a worker, in a line."""
    told = (f"{language} {states['ready']} ready, {states['inUse']} in use" for language, states in pool.items())
    return "; ".join(told) or "no sandboxes"


def _look(name: str, look: Callable[[], str | None], remedy: str) -> Finding:
    try:
        problem = look()
    except Exception as error:  # noqa: BLE001  whatever it is, it is the finding
        problem = f"{type(error).__qualname__}: {error}".strip()
    return Finding(name, problem, remedy)


def _database() -> str | None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        version = int(cursor.fetchone()[0])
    return None if version >= 140_000 else f"PostgreSQL {version // 10_000} is older than 14."


def _migrations() -> str | None:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(missing)} not applied." if missing else None


def _redis() -> str | None:
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=2)
    try:
        client.ping()
    finally:
        client.close()
    return None


def _runtimes(evaluator: Evaluator) -> Iterator[Finding]:
    offered = evaluator.runtimes()
    for language in catalogue():
        if language not in offered:
            yield Finding(
                language, "Not offered here.", "Build its image: `make up` does, or `python -m sandbox.images`."
            )
    for test in selftest.run(evaluator):
        problem = None if test.ok else f"expected {test.expected}, got {test.got}"
        yield Finding(test.name, problem, "Is the machine overloaded? If it is not, build the image anew.")


def _remedy(error: SandboxError) -> str:
    match error:
        case EngineUnavailable():
            return "Is the Docker engine running, and does DOCKER_HOST name it? `make services` starts one."
        case ImageMissing():
            return "Build the images: `make up` does, or `python -m sandbox.images`."
        case SandboxNotIsolated():
            return "The engine needs gVisor as a runtime, set up as the README says. `make up` does that."
        case _:
            return "The Docker engine's own log says more."
