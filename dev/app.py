"""The application's processes, and the supervisor that keeps them running.

`make up` starts the supervisor in a session of its own and then only watches, so the processes live on when the
terminal does not; the foreground differs from DETACH=1 in that it follows the logs and ends everything on Ctrl-C.
The supervisor starts a process that dies again, and says so in its log.
"""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType

from dev import services, stores
from dev.console import Trouble, say, step
from dev.daemon import Daemon
from dev.paths import DEMO_ENV, ROOT, VAR

SUPERVISOR = Daemon("supervisor")
WEB = Daemon("web")
WORKER = Daemon("worker")
BEAT = Daemon("beat")

# Longer than the longest run: a compilation with a limit of 60 s, which may take twice that on a busy machine, and a
# program of 30 s.
DRAIN_S = 160


def settings(chosen: Mapping[str, str], *, port: int, with_docker: bool) -> dict[str, str]:
    """The environment of a process of the application; what the shell sets wins."""
    url = f"http://127.0.0.1:{port}"
    ours = {
        "CODEFORGE_SECRET_KEY": stores.secret("secret_key"),
        "CODEFORGE_BASE_URL": url,
        "CODEFORGE_BIND": f"127.0.0.1:{port}",
        "CODEFORGE_DEMO": "1",
    }
    if os.environ.get("CODEFORGE_SECRET_KEY_FILE"):
        del ours["CODEFORGE_SECRET_KEY"]
    return ours | services.environment(chosen, with_docker=with_docker)


def manage(env: Mapping[str, str], *arguments: str) -> str:
    """Run `manage.py`; the answer is what it printed."""
    done = subprocess.run(
        (sys.executable, "manage.py", *arguments), cwd=ROOT, env=env, text=True, capture_output=True, check=False
    )
    if done.returncode:
        raise Trouble(f"manage.py {arguments[0]} failed:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


# --- Supervisor ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Program:
    daemon: Daemon
    argv: tuple[str, ...]
    env: dict[str, str]

    def start(self) -> None:
        self.daemon.start(self.argv, env=self.env)


def programs(chosen: Mapping[str, str], port: int) -> list[Program]:
    """In the order in which they start; they stop the other way round."""
    # The Docker socket is root on the host: only the worker is told where it is.
    without_docker = settings(chosen, port=port, with_docker=False)
    with_docker = settings(chosen, port=port, with_docker=True)
    concurrency = os.environ.get("CODEFORGE_WORKER_CONCURRENCY") or str(os.cpu_count() or 1)
    celery = (sys.executable, "-m", "celery", "-A", "codeforge")
    gunicorn = (sys.executable, "-m", "gunicorn", "--config", "python:codeforge.gunicorn", "codeforge.wsgi")
    schedule = str(VAR / "run" / "celerybeat-schedule")
    return [
        Program(WEB, gunicorn, without_docker),
        Program(BEAT, (*celery, "beat", "--schedule", schedule, "--pidfile="), without_docker),
        Program(WORKER, (*celery, "worker", "--pool", "threads", "--concurrency", concurrency), with_docker),
    ]


def supervise(port: int) -> None:
    """Keep the programs running until SIGTERM, then stop them: the worker first, which lets its runs finish."""
    kept = programs(services.written(), port)

    def end(signum: int, frame: FrameType | None) -> None:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    try:
        for program in kept:
            program.start()
        while True:
            pid, status = os.wait()
            for program in kept:
                if program.daemon.pid_file.read_text().split()[0] == str(pid):
                    say(f"!! {program.daemon.name} {cause(status)}. Its last words:\n{program.daemon.tail(6)}")
                    # One that cannot start must not be tried a hundred times a second.
                    time.sleep(2)
                    say(f"!! starting {program.daemon.name} again")
                    program.start()
    finally:
        stop_programs()


def cause(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"ended with exit code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"


def stop_programs() -> None:
    WORKER.stop(timeout_s=DRAIN_S)
    BEAT.stop()
    WEB.stop(timeout_s=15)


def stop() -> None:
    SUPERVISOR.stop(timeout_s=DRAIN_S + 30)
    # Where somebody killed the supervisor, they are still there.
    stop_programs()


# --- Starting --------------------------------------------------------------------------------------------------------


def running() -> bool:
    return all(daemon.pid() for daemon in (SUPERVISOR, WEB, WORKER, BEAT))


def require_port(port: int) -> None:
    # What is left of a web server that was killed goes by itself, within a second or two.
    deadline = time.monotonic() + 5
    while not (WEB.pid() or stores.is_free(port)):
        if time.monotonic() > deadline:
            raise Trouble(f"Port {port} is taken by something else. Choose another one: make up PORT={port + 1}")
        time.sleep(0.2)


def start(chosen: Mapping[str, str], port: int) -> None:
    """Migrate, make the demo account, start the processes, wait until they answer."""
    env = settings(chosen, port=port, with_docker=False)
    with step("Database migrations"):
        manage(env, "migrate", "--no-input")
    with step("Demo account"):
        make_demo(env)
    if running():
        return
    with step("Web, worker, beat"):
        stop()
        SUPERVISOR.log_file.unlink(missing_ok=True)
        SUPERVISOR.start((sys.executable, "-m", "dev", "supervise", str(port)))
        try:
            SUPERVISOR.wait_ready(ready, 60)
        except Trouble:
            stop()
            raise


def ready() -> bool:
    complaints = SUPERVISOR.log_file.read_text(errors="replace")
    if complaints:
        raise Trouble(complaints)
    return running() and answers()


def make_demo(env: Mapping[str, str]) -> None:
    """The demo account and its key, the same as last time if that is still valid, into var/demo.env."""
    old = read_demo().get("CODEFORGE_API_KEY")
    made = json.loads(manage(env, "demo", *(("--key", old) if old else ())))
    lines = {"CODEFORGE_URL": env["CODEFORGE_BASE_URL"]} | {f"CODEFORGE_{name.upper()}": made[name] for name in made}
    incomplete = DEMO_ENV.with_suffix(".new")
    incomplete.touch(mode=0o600)
    incomplete.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    incomplete.rename(DEMO_ENV)


def read_demo() -> dict[str, str]:
    try:
        return dict(line.split("=", 1) for line in DEMO_ENV.read_text().splitlines())
    except FileNotFoundError:
        return {}


def answers() -> bool:
    """Whether the API serves the demo account: web, database and key are well."""
    demo = read_demo()
    if not demo:
        return False
    request = urllib.request.Request(
        demo["CODEFORGE_URL"] + "/v1/executions?limit=1",
        headers={"Authorization": f"Bearer {demo['CODEFORGE_API_KEY']}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=5):
            return True
    except OSError:  # refusals, time-outs and unreachable servers alike
        return False


# --- Watching --------------------------------------------------------------------------------------------------------


def follow() -> None:
    """Print what the processes log, for as long as the supervisor runs."""
    for line in new_lines():
        say(line)


def new_lines() -> Iterator[str]:
    watched = (SUPERVISOR, WEB, WORKER, BEAT)
    at = {daemon: daemon.log_file.stat().st_size for daemon in watched}
    while SUPERVISOR.pid():
        for daemon in watched:
            with daemon.log_file.open("rb") as log:
                if daemon.log_file.stat().st_size < at[daemon]:
                    at[daemon] = 0  # begun anew
                log.seek(at[daemon])
                for line in log:
                    if not line.endswith(b"\n"):
                        break  # still being written
                    at[daemon] += len(line)
                    yield f"{daemon.name:<10} | {line.decode(errors='replace').rstrip()}"
        time.sleep(0.2)
