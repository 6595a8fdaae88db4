import json
import uuid
from functools import partial
from typing import Any

import pytest
from django.http import HttpResponse

from executions.models import Batch, Execution
from sandbox.errors import SandboxLost
from sandbox.fake import FakeEvaluator, result
from sandbox.job import Job
from sandbox.result import Result
from tests.cast import PROGRAM, Caller, Workbench, allow, at_once, fields, read, refused

pytestmark = pytest.mark.django_db(transaction=True)


def post(owner: Caller, number: int = 3, key: str | None = None, **more: Any) -> HttpResponse:
    body = {"executions": [{**PROGRAM, "stdin": f"{index}\n"} for index in range(number)], **more}
    return owner.post("/v1/batches", body, **({"Idempotency_Key": key} if key else {}))


def submit(owner: Caller, number: int = 3, **more: Any) -> dict[str, Any]:
    response = post(owner, number, **more)
    assert response.status_code == 202, response.content
    made: dict[str, Any] = read(response)
    return made


def test_a_batch_runs_and_says_where_it_stands(owner: Caller, workbench: Workbench) -> None:
    made = submit(owner, metadata={"a": "b"})
    assert (made["status"], made["total"], made["counts"], made["metadata"]) == ("QUEUED", 3, {"QUEUED": 3}, {"a": "b"})
    assert made["finishedAt"] is None

    workbench.run_all()

    now = read(owner.get(f"/v1/batches/{made['batchId']}?wait=5"))
    assert (now["status"], now["counts"]) == ("FINISHED", {"SUCCEEDED": 3})
    assert now["finishedAt"]


def test_results_are_read_as_lines_in_the_order_in_which_they_were_given(owner: Caller, workbench: Workbench) -> None:
    made = submit(owner, 5)
    workbench.run_all()
    response = owner.get(f"/v1/batches/{made['batchId']}/results")
    assert response.headers["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in response.getvalue().splitlines()]
    assert [line["stdout"] for line in lines] == ["0\n", "1\n", "2\n", "3\n", "4\n"]


def test_its_executions_are_listed_and_found_by_its_id(owner: Caller) -> None:
    made = submit(owner, 4)
    owner.submit()
    page = read(owner.get(f"/v1/batches/{made['batchId']}/executions?limit=3"))
    rest = read(owner.get(f"/v1/batches/{made['batchId']}/executions?limit=3&cursor={page['nextCursor']}"))
    assert [len(page["data"]), len(rest["data"])] == [3, 1]
    assert len(read(owner.get(f"/v1/executions?batchId={made['batchId']}"))["data"]) == 4
    assert len(read(owner.get("/v1/executions"))["data"]) == 5


def test_all_are_accepted_or_none(owner: Caller) -> None:
    allow(monthly_runs=5)
    owner.submit()
    problem = refused(post(owner, 5), 402, "quota_exceeded")
    assert problem["used"] == 1
    assert Execution.objects.count() == 1
    assert post(owner, 4).status_code == 202


def test_a_batch_that_does_not_fit_into_the_queue_is_refused_whole(owner: Caller) -> None:
    allow(max_concurrency=2, max_queued=3)
    refused(post(owner, 6), 429, "queue_full")
    assert not Batch.objects.exists()
    assert post(owner, 5).status_code == 202


def test_every_wrong_field_is_named_with_its_place(owner: Caller) -> None:
    body = {"executions": [PROGRAM, {**PROGRAM, "stdin": 5}, {"language": "cobol"}], "more": 1}
    problem = refused(owner.post("/v1/batches", body), 400, "invalid_request")
    assert set(fields(problem)) == {"more", "executions[1].stdin", "executions[2].language", "executions[2].source"}
    assert not Execution.objects.exists()


@pytest.mark.parametrize("executions", [[], None, {}, [None], "x"])
def test_what_is_no_list_of_programs_is_refused(owner: Caller, executions: Any) -> None:
    problem = refused(owner.post("/v1/batches", {"executions": executions}), 400, "invalid_request")
    assert fields(problem)[0].startswith("executions")


def test_a_thousand_are_taken_and_one_more_is_not(owner: Caller) -> None:
    allow(monthly_runs=None, max_queued=5_000)
    assert fields(refused(post(owner, 1_001), 400, "invalid_request")) == ["executions"]
    submit(owner, 1_000)
    assert Execution.objects.count() == 1_000


def test_a_limit_above_the_plan_is_named(owner: Caller) -> None:
    body = {"executions": [PROGRAM, {**PROGRAM, "limits": {"memoryMb": 9_999}}]}
    problem = refused(owner.post("/v1/batches", body), 400, "limit_above_plan")
    assert fields(problem) == ["executions[1].limits.memoryMb"]
    assert problem["ceilings"] == {"memoryMb": 1_024}


def test_a_repeated_key_gives_the_same_batch_and_another_body_is_refused(owner: Caller) -> None:
    first = post(owner, key="k")
    again = post(owner, key="k")
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert read(first)["batchId"] == read(again)["batchId"]
    refused(post(owner, 2, key="k"), 422, "idempotency_key_reused")
    # The key of a batch and that of an execution have nothing to do with each other.
    owner.submit(key="k")
    assert Execution.objects.count() == 4


def test_twelve_at_once_with_one_key_make_one_batch(owner: Caller) -> None:
    made = at_once([partial(post, owner, key="k")] * 12)
    assert len({read(response)["batchId"] for response in made}) == 1
    assert Execution.objects.count() == 3


def test_cancelling_stops_what_has_not_ended(owner: Caller, workbench: Workbench) -> None:
    allow(max_concurrency=2)
    made = submit(owner, 4)
    for pk in (
        Execution.objects.filter(admitted_at__isnull=False).order_by("created_at").values_list("pk", flat=True)[:1]
    ):
        workbench.run(pk)
    response = owner.post(f"/v1/batches/{made['batchId']}/cancel")
    assert response.status_code == 202
    assert read(response)["status"] == "CANCELLED"
    assert read(response)["counts"] == {"CANCELLED": 3, "SUCCEEDED": 1}
    refused(owner.post(f"/v1/batches/{made['batchId']}/cancel"), 409, "already_finished")


def test_one_that_fails_by_our_fault_is_counted_as_that(owner: Caller) -> None:
    def lose_the_second(fake: FakeEvaluator, job: Job) -> Result:
        if job.stdin == b"1\n":
            raise SandboxLost("gone")
        return result(job)

    made = submit(owner)
    Workbench(lose_the_second).run_all()
    now = read(owner.get(f"/v1/batches/{made['batchId']}"))
    assert now["counts"] == {"INTERNAL_ERROR": 1, "SUCCEEDED": 2}
    assert read(owner.get("/v1/usage"))["runs"]["used"] == 2


def test_a_batch_of_another_account_is_not_there(owner: Caller, stranger: Caller) -> None:
    made = submit(owner)
    for path in ("", "/executions", "/results"):
        refused(stranger.get(f"/v1/batches/{made['batchId']}{path}"), 404, "not_found")
    refused(stranger.post(f"/v1/batches/{made['batchId']}/cancel"), 404, "not_found")
    refused(owner.get(f"/v1/batches/{uuid.uuid4()}"), 404, "not_found")
    assert read(stranger.get(f"/v1/executions?batchId={made['batchId']}"))["data"] == []


def test_whoever_waits_is_woken_by_the_last_end(owner: Caller) -> None:
    made = submit(owner)
    bench = Workbench()
    waited, _ = at_once([lambda: read(owner.get(f"/v1/batches/{made['batchId']}?wait=30")), bench.run_all])
    assert waited["status"] == "FINISHED"
