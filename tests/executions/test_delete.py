import uuid
from typing import Any

import pytest

from accounts.models import UsageRecord
from executions import lifecycle
from executions.models import Execution
from executions.runner import job_of
from sandbox.fake import result
from tests.cast import Caller, Workbench, read, refused

pytestmark = pytest.mark.django_db(transaction=True)

FULL: dict[str, Any] = {
    "files": [{"path": "a", "content": "b"}],
    "args": ["c"],
    "metadata": {"d": "e"},
    "expectedStdout": "f",
}


def erased() -> None:
    row = Execution.objects.get()
    assert row.erased_at is not None
    assert (row.source, row.files, bytes(row.stdin), row.args, row.metadata) == ("", [], b"", [], {})
    assert row.expected_stdout is None
    assert bytes(row.stdout) == bytes(row.stderr) == bytes(row.compile_stdout) == bytes(row.compile_stderr) == b""


def test_everything_that_was_sent_and_printed_is_gone_and_the_usage_stays(owner: Caller, workbench: Workbench) -> None:
    shown = owner.submit(**FULL)
    workbench.run_all()

    response = owner.delete(f"/v1/executions/{shown['executionId']}")

    assert (response.status_code, response.content) == (204, b"")
    erased()
    assert Execution.objects.get().status == "SUCCEEDED"
    assert UsageRecord.objects.count() == 1


def test_afterwards_it_is_answered_like_one_that_never_was(owner: Caller, workbench: Workbench) -> None:
    path = f"/v1/executions/{owner.submit()['executionId']}"
    workbench.run_all()
    owner.delete(path)

    for response in (
        owner.get(path),
        owner.get(path + "?wait=1"),
        owner.get(path + "/source"),
        owner.post(path + "/cancel"),
        owner.delete(path),
    ):
        refused(response, 404, "not_found")
    assert read(owner.get("/v1/executions"))["data"] == []


def test_what_waits_is_cancelled(owner: Caller, workbench: Workbench) -> None:
    shown = owner.submit(**FULL)
    owner.delete(f"/v1/executions/{shown['executionId']}")

    workbench.run(shown["executionId"])
    assert workbench.fake.jobs == []
    erased()
    assert Execution.objects.get().status == "CANCELLED"


def test_what_runs_is_stopped_and_stores_nothing_even_if_it_ends_first(owner: Caller) -> None:
    shown = owner.submit(**FULL)
    claim = lifecycle.claim(uuid.UUID(shown["executionId"]), worker_id=uuid.uuid4())
    assert claim
    owner.delete(f"/v1/executions/{shown['executionId']}")
    erased()
    assert Execution.objects.get().cancel_requested_at is not None

    assert lifecycle.finish(claim, result(job_of(claim), stdout=b"late"), passed=True)

    erased()
    assert Execution.objects.get().status == "SUCCEEDED"
    assert UsageRecord.objects.count() == 1


def test_the_idempotency_key_is_free_again(owner: Caller, workbench: Workbench) -> None:
    first = owner.submit(key="k")
    owner.delete(f"/v1/executions/{first['executionId']}")

    assert owner.submit(key="k")["executionId"] != first["executionId"]
