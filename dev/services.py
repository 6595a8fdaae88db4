"""What the application stands on: Docker engine, images, PostgreSQL, Redis. Ours, unless the environment names others.

Who stops them: `make up` and `make services` *keep* them until `make down`. `make test` only *uses* them, under a lock
that ends with its process however that ends; the last user stops what nobody keeps.
"""

import contextlib
import fcntl
import os
import shlex
from collections.abc import Iterator, Mapping
from typing import IO

from dev import engine, images, stores
from dev.paths import ENV_FILE, RUN, make_folders

KEEP = RUN / "keep"
USERS = RUN / "users.lock"
CHANGES = RUN / "changes.lock"

NAMES = ("DATABASE_URL", "REDIS_URL", "DOCKER_HOST")


@contextlib.contextmanager
def changing() -> Iterator[None]:
    """Held while services are started or stopped: two `make` at once take turns."""
    make_folders()
    with CHANGES.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def external(name: str) -> str | None:
    """The service that the environment names, unless that is our own (somebody has sourced var/env)."""
    value = os.environ.get(name)
    return value if value and value != written().get(name) else None


def written() -> dict[str, str]:
    """What var/env said last."""
    try:
        lines = ENV_FILE.read_text().splitlines()
    except FileNotFoundError:
        return {}
    words = [shlex.split(line.removeprefix("export ")) for line in lines]
    return dict(word[0].split("=", 1) for word in words if word)


def start(*, with_docker: bool = True) -> dict[str, str]:
    """Start what does not run yet; the answer is the environment that names the services."""
    env = {
        "DATABASE_URL": external("DATABASE_URL") or stores.start_postgres(),
        "REDIS_URL": external("REDIS_URL") or stores.start_redis(),
    }
    if with_docker:
        env["DOCKER_HOST"] = external("DOCKER_HOST") or start_engine()
    write_env(env)
    if with_docker:
        images.ensure_languages(env["DOCKER_HOST"])
    return env


def start_engine() -> str:
    engine.start()
    images.ensure_base(engine.HOST)
    images.ensure_runsc(engine.HOST)
    return engine.HOST


def write_env(env: dict[str, str]) -> None:
    known = {name: value for name, value in (written() | env).items() if name in NAMES}
    incomplete = ENV_FILE.with_suffix(".new")
    incomplete.touch(mode=0o600)
    incomplete.write_text("".join(f"export {name}={shlex.quote(value)}\n" for name, value in known.items()))
    incomplete.rename(ENV_FILE)


def stop() -> None:
    KEEP.unlink(missing_ok=True)
    engine.stop()
    stores.stop()


@contextlib.contextmanager
def in_use(*, with_docker: bool) -> Iterator[dict[str, str]]:
    """The services for a while; afterwards they are stopped, without a word, unless somebody else needs them."""
    make_folders()
    with USERS.open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        try:
            with changing():
                env = start(with_docker=with_docker)
            yield env
        finally:
            with changing():
                if not KEEP.exists() and is_last(users):
                    stop()


def is_last(users: IO[str]) -> bool:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def environment(services: Mapping[str, str], *, with_docker: bool) -> dict[str, str]:
    """A process's environment. The Docker socket is root on the host, so only who needs it is told where it is."""
    env = {name: value for name, value in os.environ.items() if name not in NAMES}
    return env | {name: value for name, value in services.items() if with_docker or name != "DOCKER_HOST"}
