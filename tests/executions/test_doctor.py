from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from executions import worker
from sandbox import selftest
from sandbox.errors import EngineUnavailable, ImageMissing, SandboxError, SandboxNotIsolated
from sandbox.evaluator import Evaluator
from sandbox.fake import FakeEvaluator
from sandbox.selftest import SelfTest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def sandbox(monkeypatch: pytest.MonkeyPatch) -> FakeEvaluator:
    fake = FakeEvaluator()

    def run(evaluator: Evaluator) -> Iterator[SelfTest]:
        yield SelfTest("python", "SUCCEEDED", "SUCCEEDED")
        yield SelfTest("python", "TIMEOUT cpuTime", "TIMEOUT cpuTime")

    monkeypatch.setattr(worker, "connect", lambda **options: fake)
    monkeypatch.setattr(selftest, "run", run)
    return fake


def doctor() -> tuple[str, bool]:
    """What it says, and whether all is well."""
    said = StringIO()
    try:
        call_command("doctor", stdout=said)
    except CommandError:
        return said.getvalue(), False
    return said.getvalue(), True


def test_when_all_is_well_every_line_is_ticked(sandbox: FakeEvaluator) -> None:
    said, well = doctor()
    assert well, said
    assert said.splitlines() == [
        "✓ Database",
        "✓ Migrations",
        "✓ Redis",
        "✓ Sandbox",
        "✓ python: SUCCEEDED",
        "✓ python: TIMEOUT cpuTime",
    ]
    assert sandbox._closed


def test_a_redis_that_does_not_answer_is_found_and_the_rest_is_looked_at(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    said, well = doctor()
    assert not well
    assert "✗ Redis: ConnectionError" in said
    assert "make services" in said
    assert "✓ Sandbox" in said


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (EngineUnavailable("no answer"), "DOCKER_HOST"),
        (ImageMissing("python"), "Build the images"),
        (SandboxNotIsolated("not gVisor"), "gVisor"),
    ],
)
def test_an_engine_that_will_not_do_is_found(monkeypatch: pytest.MonkeyPatch, error: SandboxError, remedy: str) -> None:
    def refuse(**options: object) -> Evaluator:
        raise error

    monkeypatch.setattr(worker, "connect", refuse)
    said, well = doctor()
    assert not well
    assert f"✗ Sandbox: {error.code}: {error}" in said
    assert remedy in said


def test_a_self_test_that_fails_is_found(monkeypatch: pytest.MonkeyPatch, sandbox: FakeEvaluator) -> None:
    monkeypatch.setattr(selftest, "run", lambda evaluator: [SelfTest("cpp", "MEMORY_LIMIT memory", "RUNTIME_ERROR")])
    said, well = doctor()
    assert not well
    assert "✗ cpp: MEMORY_LIMIT memory: expected MEMORY_LIMIT memory, got RUNTIME_ERROR" in said
    assert sandbox._closed


def test_a_language_without_an_image_is_found(monkeypatch: pytest.MonkeyPatch, sandbox: FakeEvaluator) -> None:
    offered = sandbox.runtimes()
    offered.pop("java")
    monkeypatch.setattr(sandbox, "runtimes", lambda: offered)
    said, well = doctor()
    assert not well
    assert "✗ java: Not offered here." in said
