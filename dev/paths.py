"""Where everything of this checkout lies."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"
VENV = VAR / "venv"
RUN = VAR / "run"
LOG = VAR / "log"
POSTGRES = VAR / "postgres"
DOCKER = VAR / "docker"
RUNSC = DOCKER / "runsc" / "usr" / "bin" / "runsc"

ENV_FILE = VAR / "env"
DEMO_ENV = VAR / "demo.env"
SECRETS = VAR / "secrets.json"


# Tells this checkout's things from another's where they cannot lie under var/: cgroups, and the folder below.
CHECKOUT = "codeforge-" + hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]

# The engine's sockets. A socket's path has room for 107 bytes, and the engine adds up to 40 of its own.
ENGINE_RUN = DOCKER / "run" if len(str(DOCKER)) < 60 else Path("/run") / CHECKOUT


def make_folders() -> None:
    for folder in (VAR, RUN, LOG, DOCKER):
        folder.mkdir(parents=True, exist_ok=True)
