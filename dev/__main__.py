"""`python -m dev COMMAND`, called by the Makefile through bootstrap.sh."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

from dev import app, images, services
from dev.console import Trouble, say, step, warn
from dev.paths import DEMO_ENV, ENV_FILE, ROOT, RUN, VENV

CHECKS = {
    "Format": (VENV / "bin/ruff", "format", "--check", "."),
    "Lint": (VENV / "bin/ruff", "check", "."),
    "Types": (VENV / "bin/mypy", "."),
    "Import rules": (VENV / "bin/lint-imports",),
    "Missing migrations": (VENV / "bin/python", "manage.py", "makemigrations", "--check", "--dry-run"),
}

# The images whose languages the sample has run in.
SHOWN = RUN / "shown"


def up(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make up")
    parser.add_argument("--detach", action="store_true")
    parser.add_argument("--port", type=int, default=8000)
    chosen = parser.parse_args(arguments)
    # Whatever ends the foreground ends everything. SIGINT too: a script's background jobs inherit it ignored.
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, signal.default_int_handler)
    try:
        with services.changing():
            if app.running() and app.answers():
                say(f"Already up, and answering at {app.read_demo()['CODEFORGE_URL']}; `make down` stops it.")
                return 0
            app.require_port(chosen.port)
            services.KEEP.touch()
            app.start(services.start(), chosen.port)
        code = show()
        if chosen.detach:
            return code
        say("Ctrl-C stops everything.")
        app.follow()
        say("Stopped by somebody else.")
        return 0
    except KeyboardInterrupt:
        say()
        return down(())


def show() -> int:
    """Run the sample, print what one needs to go on.

    In every language when their images are new. After that in one: to be up in seconds, not in half a minute.
    """
    demo = app.read_demo()
    built = images.languages(services.written()["DOCKER_HOST"])
    shown = SHOWN.exists() and SHOWN.read_text() == built
    say()
    sample = (sys.executable, "-m", "dev.sample", *(["python"] if shown else []))
    scored = subprocess.run(sample, cwd=ROOT, env={**os.environ, **demo}, check=False)
    if scored.returncode == 0:
        SHOWN.write_text(built)
    say(f"""
  API    {demo["CODEFORGE_URL"]}/v1
  Key    {demo["CODEFORGE_API_KEY"]}
  Docs   {demo["CODEFORGE_URL"]}/docs/api
  Pages  {demo["CODEFORGE_URL"]}/dashboard  as {demo["CODEFORGE_MEMBER_EMAIL"]}  {demo["CODEFORGE_MEMBER_PASSWORD"]}
  Admin  {demo["CODEFORGE_URL"]}/admin/  as {demo["CODEFORGE_STAFF_EMAIL"]}  {demo["CODEFORGE_STAFF_PASSWORD"]}

  The key and the passwords are also in {DEMO_ENV.relative_to(ROOT)}.
""")
    if scored.returncode:
        warn("The sample above went wrong: `make doctor` looks for the cause, the logs are in var/log.")
    return scored.returncode


def down(arguments: Sequence[str]) -> int:
    # A second Ctrl-C must not leave half of it running.
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sig, signal.SIG_IGN)
    with services.changing(), step("Stopping (programs that run may finish)"):
        app.stop()
        services.stop()
    return 0


def services_only(arguments: Sequence[str]) -> int:
    with services.changing():
        services.KEEP.touch()
        services.start()
    say(f"Services are up. `source {ENV_FILE.relative_to(ROOT)}` names them; `make down` stops them.")
    return 0


def test(arguments: Sequence[str]) -> int:
    return pytest(arguments, with_docker=True)


def fast(arguments: Sequence[str]) -> int:
    return pytest(["-m", "not real and not browser and not scale", *arguments], with_docker=False)


def pytest(arguments: Sequence[str], *, with_docker: bool) -> int:
    """pytest's summary must stay the last line, so nothing is said after it."""
    with services.in_use(with_docker=with_docker) as chosen:
        env = services.environment(chosen, with_docker=with_docker)
        # Tests have settings of their own (tests/settings.py); whatever the shell says must not change what they show.
        env = {name: value for name, value in env.items() if not name.startswith("CODEFORGE_")}
        # Ctrl-C is for pytest, which gets it too; we wait for its report and tidy up. Not SIG_IGN: that is inherited.
        signal.signal(signal.SIGINT, lambda *_: None)
        return subprocess.run((sys.executable, "-m", "pytest", *arguments), cwd=ROOT, env=env, check=False).returncode


def check(arguments: Sequence[str]) -> int:
    failed = []
    with services.in_use(with_docker=False) as chosen:
        env = app.settings(chosen, port=8000, with_docker=False)
        for name, command in CHECKS.items():
            with step(name):
                done = subprocess.run(command, cwd=ROOT, env=env, text=True, capture_output=True, check=False)
            if done.returncode:
                failed.append(name)
                warn(done.stdout + done.stderr)
    if failed:
        warn(f"Failed: {', '.join(failed)}")
    return 1 if failed else 0


def doctor(arguments: Sequence[str]) -> int:
    with services.in_use(with_docker=True) as chosen:
        env = app.settings(chosen, port=8000, with_docker=True)
        if not services.external("DATABASE_URL"):
            app.manage(env, "migrate", "--no-input")  # that ours is new is nothing to complain about
        return subprocess.run((sys.executable, "manage.py", "doctor"), cwd=ROOT, env=env, check=False).returncode


def bench(arguments: Sequence[str]) -> int:
    """Against the demo of `make up`, which is started when it is not up, and then stays."""
    code = up(["--detach"])
    if code:
        return code
    env = {**os.environ, **services.environment(services.written(), with_docker=True), **app.read_demo()}
    return subprocess.run((sys.executable, "-m", "bench", *arguments), cwd=ROOT, env=env, check=False).returncode


def supervise(arguments: Sequence[str]) -> int:
    app.supervise(int(arguments[0]))
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "up": up,
    "down": down,
    "services": services_only,
    "test": test,
    "fast": fast,
    "check": check,
    "bench": bench,
    "doctor": doctor,
    "supervise": supervise,
}


def main() -> int:
    try:
        return COMMANDS[sys.argv[1]](sys.argv[2:])
    except Trouble as trouble:
        warn(f"\n{trouble}")
        return 1
    except KeyboardInterrupt:
        warn("\nInterrupted. The same command goes on from here; `make down` stops what runs.")
        return 130


if __name__ == "__main__":
    sys.exit(main())
