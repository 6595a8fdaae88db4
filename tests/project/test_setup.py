"""What the files of deployment and set-up promise."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev import app, daemon

ROOT = Path(__file__).resolve().parents[2]
SERVICES = {"DATABASE_URL": "postgresql://…", "REDIS_URL": "redis://…", "DOCKER_HOST": "unix:///docker.sock"}


@pytest.fixture
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return loaded


def test_only_the_worker_of_compose_has_the_docker_socket(compose: dict[str, Any]) -> None:
    told = {name for name, service in compose["services"].items() if re.search("(?i)docker", json.dumps(service))}
    assert told == {"worker"}


def test_only_the_worker_of_make_up_has_the_docker_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///var/run/docker.sock")
    monkeypatch.setenv("CODEFORGE_SECRET_KEY_FILE", "not read here")
    told = {program.daemon.name for program in app.programs(SERVICES, 8000) if "DOCKER_HOST" in program.env}
    assert told == {"worker"}


def test_compose_does_not_start_without_its_secrets(compose: dict[str, Any]) -> None:
    for name in ("CODEFORGE_SECRET_KEY", "CODEFORGE_BASE_URL", "POSTGRES_PASSWORD", "REDIS_PASSWORD"):
        uses = re.findall(rf"\$\{{{name}([^}}]*)\}}", (ROOT / "compose.yaml").read_text())
        assert uses, name
        assert all(use.startswith(":?") for use in uses), name


def test_every_setting_is_explained_and_none_that_does_not_exist() -> None:
    explained = set(re.findall(r"^#?([A-Z][A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    read = set()
    for path in (*ROOT.glob("codeforge/**/*.py"), *ROOT.glob("executions/**/*.py"), *ROOT.glob("accounts/**/*.py")):
        read |= set(re.findall(r'\benv(?:str|bool|int|secret)\(\s*"([A-Z_]+)"', path.read_text()))
    only_elsewhere = {"POSTGRES_PASSWORD", "REDIS_PASSWORD", "DOCKER_HOST", "CODEFORGE_WORKER_CONCURRENCY"}
    assert explained == read | only_elsewhere


def image_names() -> Iterator[str]:
    for path in (ROOT / "Dockerfile", *ROOT.glob("sandbox/**/Dockerfile")):
        yield from re.findall(r"^FROM (\S+)", path.read_text(), re.MULTILINE)


def test_images_are_named_without_a_registry() -> None:
    """So that the same files build on an image that was made here, and on whatever mirror an engine is told to use."""
    names = set(image_names())
    assert names
    assert not [name for name in names if "/" in name]


@pytest.mark.filterwarnings("ignore:.*still running:ResourceWarning")  # daemons are meant to outlive who starts them
def test_a_pid_that_now_belongs_to_somebody_else_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    for name in ("RUN", "LOG"):
        monkeypatch.setattr(daemon, name, tmp_path)
    sleeper = daemon.Daemon("sleeper")
    pid = sleeper.start(("sleep", "60"))
    request.addfinalizer(sleeper.stop)
    assert sleeper.pid() == pid

    sleeper.pid_file.write_text(f"{pid} 1")
    assert sleeper.pid() is None
    sleeper.stop()
    assert daemon.start_time(pid) is not None  # left alone

    sleeper.record(pid)
    sleeper.stop()
    assert daemon.start_time(pid) is None


def test_options_of_single_tests_are_known_whatever_is_run(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getoption("rounds") >= 1
