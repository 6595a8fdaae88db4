"""GET of one execution, of its source, of the languages and of the usage."""

import base64
from typing import Any

import pytest

from executions import lifecycle
from executions.models import Execution, RuntimeImage
from sandbox.catalogue import catalogue
from tests.cast import PROGRAM, Caller, Workbench, allow, fields, read, refused

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("query", ["?encoding=hex", "?encoding=", "?Encoding=base64", "?wait=soon", "?wait=1&wait=2"])
def test_a_wrong_parameter_is_refused(owner: Caller, query: str) -> None:
    shown = owner.submit()
    problem = refused(owner.get(f"/v1/executions/{shown['executionId']}{query}"), 400, "invalid_request")
    assert fields(problem) == [query[1:].split("=", maxsplit=1)[0]]


@pytest.mark.parametrize("path", ["/v1/executions/x", "/v1/executions/00000000-0000-0000-0000-000000000000", "/v1/x"])
def test_what_is_not_there_is_not_found(owner: Caller, path: str) -> None:
    refused(owner.get(path), 404, "not_found")


def test_a_compiled_language_has_a_compile_section(owner: Caller, workbench: Workbench) -> None:
    shown = owner.submit(language="cpp")
    workbench.run_all()
    assert owner.look(shown["executionId"])["compile"] == {
        "exitCode": 0,
        "stdout": "",
        "stderr": "",
        "timeMs": 7,
        "cached": False,
    }


def test_the_source_is_given_as_a_request_that_asks_for_the_same(owner: Caller, workbench: Workbench) -> None:
    sent: dict[str, Any] = {
        "language": "cpp",
        "version": "1",
        "source": "int main() {}",
        "files": [
            {"path": "a.bin", "content": base64.b64encode(b"\xff\0").decode(), "encoding": "base64"},
            {"path": "b.txt", "content": "é", "encoding": "utf-8"},
        ],
        "stdin": base64.b64encode(b"\xff").decode(),
        "stdinEncoding": "base64",
        "args": ["x"],
        "options": {"standard": "c++17"},
        "limits": {
            "wallTimeMs": 1,
            "cpuTimeMs": 2,
            "compileTimeMs": 3,
            "memoryMb": 64,
            "processes": 5,
            "outputBytes": 6,
            "diskMb": 7,
        },
        "expectedStdout": "y",
        "checker": {"type": "float", "tolerance": 0.5},
        "isolation": "execution",
        "metadata": {"k": "v"},
    }
    shown = owner.submit(**sent)

    source = read(owner.get(f"/v1/executions/{shown['executionId']}/source"))

    assert source == sent
    again = owner.submit(**source)
    assert read(owner.get(f"/v1/executions/{again['executionId']}/source")) == sent


def test_the_source_of_a_plain_request_is_completed_with_what_held(owner: Caller) -> None:
    shown = owner.submit()
    source = read(owner.get(f"/v1/executions/{shown['executionId']}/source"))
    assert source["source"] == PROGRAM["source"]
    assert (source["stdin"], source["stdinEncoding"]) == ("4\n", "utf-8")
    assert "expectedStdout" not in source


def test_the_languages_are_public(visitor: Caller, workbench: Workbench) -> None:
    listed = read(visitor.get("/v1/runtimes"))["data"]

    assert [entry["language"] for entry in listed] == list(catalogue())
    python = next(entry for entry in listed if entry["language"] == "python")
    assert python["versions"] == [
        {"version": "3.13.5", "image": "sha256:fake-python", "sandbox": "fake", "sandboxVersion": "0"}
    ]
    assert python["compileCommand"] is None
    assert python["limits"]["wallTimeMs"] == {"default": 10_000, "ceiling": 30_000}
    cpp = next(entry for entry in listed if entry["language"] == "cpp")
    assert cpp["options"]["standard"]["default"] == "c++20"


def test_languages_are_listed_before_any_worker_came(visitor: Caller) -> None:
    assert all(entry["versions"] == [] for entry in read(visitor.get("/v1/runtimes"))["data"])


def test_what_was_last_said_long_before_the_latest_is_offered_no_more(visitor: Caller, workbench: Workbench) -> None:
    from datetime import timedelta  # noqa: PLC0415

    from django.utils import timezone  # noqa: PLC0415

    old = {"language": "python", "image": "sha256:old", "sandbox": "fake", "sandbox_version": "0"}
    RuntimeImage.objects.create(version="3.12.1", seen_at=timezone.now() - timedelta(hours=1), **old)
    RuntimeImage.objects.create(version="3.9.30", seen_at=timezone.now(), **old)

    listed = {entry["language"]: entry for entry in read(visitor.get("/v1/runtimes"))["data"]}
    assert [version["version"] for version in listed["python"]["versions"]] == ["3.13.5", "3.9.30"]


def test_usage_tells_what_is_used_and_what_goes_on(owner: Caller, workbench: Workbench) -> None:
    allow(monthly_runs=10, max_concurrency=2, max_queued=7)
    owner.submit()
    workbench.run_all()
    first = owner.submit()
    for _ in range(2):
        owner.submit()
    lifecycle.claim(Execution.objects.get(pk=first["executionId"]).pk, worker_id=workbench.resident.id)

    usage = read(owner.get("/v1/usage"))

    assert usage["plan"] == "beta"
    assert usage["runs"] == {"used": 1, "limit": 10, "remaining": 6}
    assert usage["concurrency"] == {"running": 1, "queued": 2, "max": 2, "maxQueued": 7}
    assert usage["period"]["start"].endswith("-01T00:00:00.000Z")


def test_usage_without_a_limit_says_null(owner: Caller) -> None:
    allow(monthly_runs=None)
    assert read(owner.get("/v1/usage"))["runs"] == {"used": 0, "limit": None, "remaining": None}
