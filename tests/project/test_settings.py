"""Settings fail closed: each of these is a process of its own, as production starts it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codeforge.env import BadSetting, envbool, envint, envsecret, envstr

ROOT = Path(__file__).parents[2]
GOOD = {
    "DATABASE_URL": "postgresql://codeforge:secret-of-the-database@localhost/codeforge",
    "REDIS_URL": "redis://localhost/0",
    "CODEFORGE_SECRET_KEY": "kP2x" * 4 + "9sVq" * 4 + "Zm7w" * 4 + "hT4b" * 4,
    "CODEFORGE_BASE_URL": "https://api.example.com",
    "CODEFORGE_MAIL_URL": "smtp+tls://codeforge:secret-of-the-mail@mail.example.com:587",
}


def manage(*arguments: str, **changes: str | None) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **{k: v for k, v in {**GOOD, **changes}.items() if v is not None}}
    return subprocess.run(
        [sys.executable, "-W", "error", "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_production_settings_pass_djangos_own_examination() -> None:
    done = manage("check", "--deploy", "--fail-level", "INFO")
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


FAULTS: dict[str, dict[str, str | None]] = {
    "no secret key": {"CODEFORGE_SECRET_KEY": None},
    "a short secret key": {"CODEFORGE_SECRET_KEY": "short"},
    "no database": {"DATABASE_URL": None},
    "an unknown way for mail": {"CODEFORGE_MAIL_URL": "pigeon://x"},
    "proxies that are no networks": {"CODEFORGE_TRUSTED_PROXIES": "10.0.0.0/8, here"},
    "SQLite": {"DATABASE_URL": "sqlite:///db.sqlite3"},
    "a database without a name": {"DATABASE_URL": "postgresql://localhost/"},
    "no Redis": {"REDIS_URL": None},
    "no address": {"CODEFORGE_BASE_URL": None},
    "an address in the clear": {"CODEFORGE_BASE_URL": "http://api.example.com"},
    "an address with a path": {"CODEFORGE_BASE_URL": "https://example.com/api"},
    "debug in public": {"CODEFORGE_DEBUG": "1"},
    "a boolean that is none": {"CODEFORGE_DEBUG": "maybe"},
    "a number that is none": {"CODEFORGE_MAX_WAITERS": "many"},
    "an unknown log format": {"CODEFORGE_LOG_FORMAT": "xml"},
    "an unknown log level": {"CODEFORGE_LOG_LEVEL": "loud"},
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_setting_that_is_missing_or_wrong_stops_everything(name: str) -> None:
    done = manage("check", "--deploy", **FAULTS[name])
    assert done.returncode != 0
    assert next(iter(FAULTS[name])) in done.stderr
    assert "secret-of-the-database" not in done.stderr


def test_debug_is_off_unless_asked_for() -> None:
    done = manage(
        "shell", "-v0", "-c", "from django.conf import settings; print(settings.DEBUG, settings.ALLOWED_HOSTS)"
    )
    assert done.stdout.strip() == "False ['api.example.com']", done.stderr


def test_every_setting_that_is_read_is_explained() -> None:
    settings = (ROOT / "codeforge/settings.py").read_text()
    explained = settings.split('"""')[1]
    import re  # noqa: PLC0415

    read = set(re.findall(r'env\w+\("([A-Z_]+)"', settings + (ROOT / "codeforge/gunicorn.py").read_text()))
    assert [name for name in sorted(read) if name not in explained] == []


def test_values_are_read_as_they_are_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, value in {"1": True, "TRUE": True, "on": True, "0": False, "no": False, "": True}.items():
        monkeypatch.setenv("X", text)
        assert envbool("X", default=True) is value
    monkeypatch.setenv("X", "7")
    assert envint("X", default=1, least=7, most=7) == 7
    monkeypatch.setenv("X", "  ")
    assert envint("X", default=1) == 1
    assert envstr("X", "d") == "d"
    assert envstr("X", None) is None


@pytest.mark.parametrize(("text", "least", "most"), [("x", 0, None), ("1.5", 0, None), ("-1", 0, None), ("9", 0, 8)])
def test_a_number_out_of_bounds_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str, least: int, most: int | None
) -> None:
    monkeypatch.setenv("X", text)
    with pytest.raises(BadSetting, match="X"):
        envint("X", default=1, least=least, most=most)


def test_a_secret_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("s3cret\n")
    monkeypatch.setenv("X_FILE", str(file))
    assert envsecret("X") == "s3cret"
    monkeypatch.setenv("X", "too")
    with pytest.raises(BadSetting, match="both"):
        envsecret("X")
    monkeypatch.delenv("X")
    file.write_text("")
    with pytest.raises(BadSetting, match="empty"):
        envsecret("X")
    monkeypatch.setenv("X_FILE", str(tmp_path / "none"))
    with pytest.raises(BadSetting, match="cannot be read"):
        envsecret("X")
