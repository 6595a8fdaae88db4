import base64
import json
import uuid
from typing import Any

import pytest
from django.db import OperationalError

from accounts.models import Account
from executions import queries
from executions.models import Execution, RuntimeImage
from tests.cast import PROGRAM, Caller, Workbench, fields, read, refused

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_program_is_accepted_and_runs(owner: Caller, workbench: Workbench) -> None:
    response = owner.post("/v1/executions", PROGRAM)

    assert response.status_code == 202
    accepted = read(response)
    assert accepted["status"] == "QUEUED"
    assert (accepted["stdout"], accepted["stderr"]) == ("", "")
    assert response.headers["Location"].endswith(f"/v1/executions/{accepted['executionId']}")
    assert "Idempotency-Replayed" not in response.headers

    workbench.run_all()
    finished = owner.look(accepted["executionId"])
    assert finished["status"] == "SUCCEEDED"
    assert finished["phase"] == "run"
    assert finished["stdout"] == "4\n"
    assert finished["attempts"] == 1
    assert finished["runtime"] == {
        "version": "3.13.5",
        "image": "sha256:fake-python",
        "sandbox": "fake",
        "sandboxVersion": "0",
    }
    assert finished["createdAt"] <= finished["startedAt"] <= finished["finishedAt"]
    assert finished["usage"]["queueMs"] >= 0


def test_limits_are_the_plans_unless_asked_for(owner: Caller, workbench: Workbench) -> None:
    shown = owner.submit(limits={"memoryMb": 512, "outputBytes": 0})

    assert shown["limits"] == {
        "wallTimeMs": 10_000,
        "cpuTimeMs": 5_000,
        "compileTimeMs": 30_000,
        "memoryMb": 512,
        "processes": 64,
        "outputBytes": 0,
        "diskMb": 64,
    }
    workbench.run_all()
    assert workbench.fake.jobs[0].limits.memory_mb == 512
    assert workbench.fake.jobs[0].limits.wall_time_ms == 10_000


def test_a_limit_at_the_ceiling_is_taken_and_above_it_is_refused_with_the_ceiling(owner: Caller) -> None:
    owner.submit(limits={"wallTimeMs": 30_000})

    response = owner.post("/v1/executions", {**PROGRAM, "limits": {"wallTimeMs": 30_001, "diskMb": 999}})

    problem = refused(response, 400, "limit_above_plan")
    assert problem["ceilings"] == {"wallTimeMs": 30_000, "diskMb": 256}
    assert fields(problem) == ["limits.wallTimeMs", "limits.diskMb"]
    assert Execution.objects.count() == 1


def test_a_limit_of_a_test_above_the_plan_is_refused_with_the_ceiling_too(owner: Caller) -> None:
    tests = [{}, {"limits": {"cpuTimeMs": 20_001}}, {"limits": {"cpuTimeMs": 99_999, "memoryMb": 1_025}}]
    body = {"language": "python", "source": "x", "limits": {"diskMb": 999}, "tests": tests}

    problem = refused(owner.post("/v1/executions", body), 400, "limit_above_plan")

    assert problem["ceilings"] == {"cpuTimeMs": 20_000, "memoryMb": 1_024, "diskMb": 256}
    assert sorted(fields(problem)) == [
        "limits.diskMb",
        "tests[1].limits.cpuTimeMs",
        "tests[2].limits.cpuTimeMs",
        "tests[2].limits.memoryMb",
    ]


def test_a_limit_above_the_plan_among_other_faults_is_one_of_several(owner: Caller) -> None:
    response = owner.post("/v1/executions", {**PROGRAM, "limits": {"wallTimeMs": 30_001, "nonsense": 1}})

    assert set(fields(refused(response, 400, "invalid_request"))) == {"limits.wallTimeMs", "limits.nonsense"}


def test_what_is_sent_arrives_in_the_sandbox_to_the_byte(owner: Caller, workbench: Workbench) -> None:
    every_byte = bytes(range(256))
    owner.submit(
        source="print('é')\r\n\t",
        stdin=base64.b64encode(every_byte).decode(),
        stdinEncoding="base64",
        args=["", " a b ", "é"],
        files=[
            {"path": "data/x.bin", "content": base64.b64encode(every_byte).decode(), "encoding": "base64"},
            {"path": "y.txt", "content": "é\0\n"},
        ],
    )
    workbench.run_all()

    (job,) = workbench.fake.jobs
    assert job.program.source == "print('é')\r\n\t"
    assert job.stdin == every_byte
    assert job.args == ("", " a b ", "é")
    assert [(file.path, file.content) for file in job.program.files] == [
        ("data/x.bin", every_byte),
        ("y.txt", "é\0\n".encode()),
    ]


def test_stdin_is_given_as_it_is_with_nothing_added(owner: Caller, workbench: Workbench) -> None:
    shown = owner.submit(stdin=" no newline\0")
    workbench.run_all()

    assert owner.look(shown["executionId"])["stdout"] == " no newline\0"


def test_options_of_the_language_are_taken(owner: Caller, workbench: Workbench) -> None:
    owner.submit(language="cpp", options={"standard": "c++17"})
    workbench.run_all()

    assert workbench.fake.jobs[0].program.options == {"standard": "c++17"}


@pytest.mark.parametrize("version", ["3", "3.13", "3.13.5", ""])
def test_a_version_or_a_dotted_prefix_of_it_is_taken(owner: Caller, workbench: Workbench, version: str) -> None:
    shown = owner.submit(version=version)
    workbench.run_all()

    assert owner.look(shown["executionId"])["runtime"]["version"] == "3.13.5"


@pytest.mark.parametrize("version", ["3.1", "3.13.", "4", "3.13.5.0", "%", "3.13.5 "])
def test_another_version_is_refused_with_those_that_there_are(
    owner: Caller, workbench: Workbench, version: str
) -> None:
    problem = refused(owner.post("/v1/executions", {**PROGRAM, "version": version}), 400, "invalid_request")

    assert fields(problem) == ["version"]
    assert "3.13.5" in problem["errors"][0]["message"]


def test_a_language_that_no_worker_has_is_refused_with_those_that_there_are(owner: Caller) -> None:
    owner.submit(language="java")  # nobody has said yet what can be run
    Workbench()
    RuntimeImage.objects.exclude(language="python").delete()

    problem = refused(owner.post("/v1/executions", {**PROGRAM, "language": "java"}), 400, "invalid_request")

    assert fields(problem) == ["language"]
    assert problem["errors"][0]["message"].endswith(": python.")
    owner.submit()


@pytest.mark.parametrize(
    ("expected", "checker", "passed"),
    [
        ("4\n", {"type": "exact"}, True),
        ("4", {"type": "exact"}, False),
        ("4", None, True),
        ("4 \n\n", {"type": "trimmed"}, True),
        ("5", {"type": "trimmed"}, False),
        ("4.0000001", {"type": "float", "tolerance": 1e-6}, True),
        ("4.1", {"type": "float", "tolerance": 1e-6}, False),
    ],
)
def test_the_output_is_compared_with_the_expected_one(
    owner: Caller, workbench: Workbench, expected: str, checker: dict[str, object] | None, passed: bool
) -> None:
    extra: dict[str, Any] = {"checker": checker} if checker else {}
    shown = owner.submit(expectedStdout=expected, **extra)
    workbench.run_all()

    finished = owner.look(shown["executionId"])
    assert finished["passed"] is passed
    assert finished["status"] == "SUCCEEDED"


def test_the_source_may_be_as_long_as_promised_in_whatever_spelling(owner: Caller) -> None:
    source = "#" * (256 * 1024)
    owner.submit(source=source)
    # The same bytes, each as six characters of JSON.
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in source)
    body = f'{{"language": "python", "source": "{escaped}"}}'.encode()
    assert owner.request("POST", "/v1/executions", body).status_code == 202


def test_stdin_and_files_may_be_as_long_as_promised(owner: Caller) -> None:
    stdin = base64.b64encode(b"x" * (4 << 20)).decode()
    content = base64.b64encode(b"y" * (1 << 20)).decode()
    owner.submit(stdin=stdin, stdinEncoding="base64", files=[{"path": "y", "content": content, "encoding": "base64"}])
    stored = Execution.objects.get()
    assert len(stored.stdin) == 4 << 20


def test_all_fields_together_may_be_as_long_as_promised(owner: Caller) -> None:
    sent = json.dumps(
        {
            "language": "python",
            "stdin": base64.b64encode(b"x" * (4 << 20)).decode(),
            "stdinEncoding": "base64",
            "files": [{"path": "y", "content": base64.b64encode(b"y" * (1 << 20)).decode(), "encoding": "base64"}],
            "expectedStdout": "z" * (4 << 20),
            "args": ["a" * (32 << 10)] * 4,
            "metadata": {f"{number:040}": "ü" * 500 for number in range(16)},
        }
    )
    source = "\\u0023" * (256 << 10)
    body = f'{sent[:-1]}, "source": "{source}"}}'.encode()
    assert owner.request("POST", "/v1/executions", body).status_code == 202


def test_metadata_comes_back(owner: Caller) -> None:
    assert owner.submit(metadata={"run": "7", "ünï": "x" * 500})["metadata"] == {"run": "7", "ünï": "x" * 500}


def test_a_dead_broker_changes_nothing_for_the_customer(
    owner: Caller, workbench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dead(*args: object, **options: object) -> None:
        raise ConnectionError("the broker is gone")

    monkeypatch.setattr("celery.current_app.send_task", dead)

    response = owner.post("/v1/executions", PROGRAM)

    assert response.status_code == 202
    assert Execution.objects.get().admitted_at is not None


@pytest.mark.parametrize("query", ["", "?wait=5"])
def test_what_is_accepted_is_told_also_when_the_database_fails_right_after(
    owner: Caller, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    def down(*args: object) -> None:
        raise OperationalError("the database is down")

    monkeypatch.setattr(queries, "is_finished", down)
    monkeypatch.setattr(queries, "get_for", down)

    response = owner.post(f"/v1/executions{query}", PROGRAM, Idempotency_Key="k")

    assert response.status_code == 202
    told = read(response)
    assert response.headers["Location"].endswith(told["executionId"])
    monkeypatch.undo()
    assert owner.look(told["executionId"]) == told


def test_an_id_cannot_be_chosen(owner: Caller) -> None:
    body = {**PROGRAM, "executionId": str(uuid.uuid4())}
    assert fields(refused(owner.post("/v1/executions", body), 400, "invalid_request")) == ["executionId"]


def test_a_suspended_account_is_refused(owner: Caller) -> None:
    from django.utils import timezone  # noqa: PLC0415

    Account.objects.update(suspended_at=timezone.now())

    refused(owner.post("/v1/executions", PROGRAM), 403, "account_suspended")
    assert not Execution.objects.exists()


def test_unknown_query_parameters_are_refused(owner: Caller) -> None:
    response = owner.request("POST", "/v1/executions?Wait=3&wait=3&wait=4", json.dumps(PROGRAM).encode())
    assert fields(refused(response, 400, "invalid_request")) == ["Wait", "wait"]
    assert not Execution.objects.exists()
