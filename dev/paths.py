"""Where everything of this checkout lies."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"
VENV = VAR / "venv"
RUN = VAR / "run"
LOG = VAR / "log"
MAIL = VAR / "mail"
POSTGRES = VAR / "postgres"
REDIS = VAR / "redis"
DOCKER = VAR / "docker"
RUNSC = DOCKER / "runsc" / "usr" / "bin" / "runsc"

ENV_FILE = VAR / "env"
DEMO_ENV = VAR / "demo.env"
SECRETS = VAR / "secrets.json"


def engine_run_dir() -> Path:
    """The folder of the engine's sockets: a socket's path has room for 107 bytes, and the engine adds up to 40."""
    inside = DOCKER / "run"
    if len(str(inside).encode()) <= 64:
        return inside
    return Path("/run/codeforge-" + hashlib.sha256(str(ROOT).encode()).hexdigest()[:12])


ENGINE_RUN = engine_run_dir()


def make_folders() -> None:
    for folder in (VAR, RUN, LOG, MAIL, DOCKER):
        folder.mkdir(parents=True, exist_ok=True)
