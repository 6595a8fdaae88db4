import json
import uuid
from functools import partial
from io import BytesIO
from typing import Any

import pytest
from django.http import HttpResponse

from accounts.models import ApiKey, UsagePeriod
from codeforge.errors import InvalidRequest
from executions import lifecycle, sweep
from executions.evaluations import reading
from executions.models import Candidate, Evaluation, Execution
from sandbox.errors import SandboxLost
from sandbox.fake import FakeEvaluator, result
from sandbox.job import Job
from sandbox.result import Result
from sandbox.verdict import Verdict
from tests.cast import Caller, Workbench, allow, at_once, fields, read, refused

pytestmark = pytest.mark.django_db(transaction=True)


def obey(fake: FakeEvaluator, job: Job, judge: Any = None) -> Result:
    """The program's text says what becomes of it. With a preset, what passes copies its secret to stderr."""
    source = job.program.source
    if "lose" in source:
        raise SandboxLost("gone")
    if "crash" in source:
        return result(job, verdict=Verdict.RUNTIME_ERROR, exit_code=1)
    if "leave" in source:
        return result(job)
    if "complain" in source:
        return result(job, stderr=b"Assertion failed\n" + job.stdin)
    return result(job, stderr=job.stdin)


def plain(*candidates: str, problem: str = "p", **header: Any) -> dict[str, Any]:
    """An evaluation of one problem with the preset `plain`."""
    return {
        "language": "python",
        "problems": [{"id": problem, "preset": "plain", "test": "assert True"}],
        "candidates": [{"problemId": problem, "source": text} for text in candidates],
        **header,
    }


def post(owner: Caller, body: Any, key: str | None = None) -> HttpResponse:
    return owner.post("/v1/evaluations", body, **({"Idempotency_Key": key} if key else {}))


def submit(owner: Caller, body: Any, key: str | None = None) -> dict[str, Any]:
    response = post(owner, body, key)
    assert response.status_code == 202, response.content
    made: dict[str, Any] = read(response)
    return made


def finish(owner: Caller, made: dict[str, Any], script: Any = obey) -> dict[str, Any]:
    Workbench(script).run_all()
    now: dict[str, Any] = read(owner.get(f"/v1/evaluations/{made['evaluationId']}?wait=5"))
    return now


def results(owner: Caller, made: dict[str, Any]) -> list[dict[str, Any]]:
    response = owner.get(f"/v1/evaluations/{made['evaluationId']}/results")
    assert response.headers["Content-Type"] == "application/x-ndjson"
    return [json.loads(line) for line in response.getvalue().splitlines()]


def lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def send(owner: Caller, body: bytes, **headers: str) -> HttpResponse:
    return owner.request("POST", "/v1/evaluations", body, content_type="application/x-ndjson", **headers)


# --- Scores ----------------------------------------------------------------------------------------------------------


def test_candidates_are_run_and_scored(owner: Caller) -> None:
    allow(max_concurrency=10)
    made = submit(owner, plain("a", "b", "crash 1", "crash 2", "leave 3", k=[1, 2, 5], name="nightly"))
    assert made["status"] == "QUEUED"
    assert made["progress"] == {"queued": 5, "running": 0, "scored": 0, "unscored": 0, "total": 5, "deduplicated": 0}

    now = finish(owner, made)

    assert now["status"] == "FINISHED"
    assert now["finishedAt"]
    assert {k: found["value"] for k, found in now["passAtK"].items()} == pytest.approx({"1": 0.4, "2": 0.7, "5": 1.0})
    assert now["notReported"] == []
    # Made once, and kept.
    kept = Evaluation.objects.get().report
    assert kept is not None
    assert kept["passAtK"] == now["passAtK"]
    (problem,) = now["problems"]
    assert (problem["id"], problem["n"], problem["c"], problem["unscored"]) == ("p", 5, 2, 0)
    assert problem["statuses"] == {"SUCCEEDED": 3, "RUNTIME_ERROR": 2}
    assert [(line["passed"], line["reason"]) for line in results(owner, made)] == [
        (True, None),
        (True, None),
        (False, "runtime_error"),
        (False, "runtime_error"),
        (False, "incomplete"),
    ]


def test_problems_with_tests_are_judged_by_their_output(owner: Caller) -> None:
    body = {
        "language": "cpp",
        "problems": [
            {"id": "echo", "tests": [{"stdin": "4\n", "expectedStdout": "4"}]},
            {
                "id": "not",
                "tests": [{"stdin": "4\n", "expectedStdout": "5"}, {"stdin": "5"}],
                "checker": {"type": "tokens"},
            },
        ],
        "candidates": [
            {"problemId": "not", "source": "x", "id": "n1"},
            {"problemId": "echo", "source": "x", "id": "e1"},
        ],
    }
    made = submit(owner, body)
    now = finish(owner, made, None)
    assert now["passAtK"]["1"]["value"] == 0.5
    assert [
        (line["problemId"], line["candidateId"], line["passed"], line["reason"]) for line in results(owner, made)
    ] == [
        ("echo", "e1", True, None),
        ("not", "n1", False, "wrong_output"),
    ]


def test_a_failure_of_ours_has_no_score_and_is_run_again_when_asked(owner: Caller) -> None:
    """n shrinks, `unscored` tells, pass@k of the others is what it would be without it; what k needs is missing."""
    allow(max_concurrency=10)
    body = plain("a", "crash", "lose 1", k=[1, 3])
    body["problems"].append({"id": "q", "preset": "plain", "test": "assert True"})
    body["candidates"] += [{"problemId": "q", "source": text} for text in ("a", "b", "crash")]
    made = submit(owner, body)

    now = finish(owner, made)

    assert now["progress"]["unscored"] == 1
    assert [(problem["n"], problem["c"], problem["unscored"]) for problem in now["problems"]] == [(2, 1, 1), (3, 2, 0)]
    assert now["passAtK"]["1"]["value"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert "3" not in now["passAtK"]
    (missing,) = now["notReported"]
    assert missing["k"] == 3
    assert "p has 2" in missing["reason"]
    assert UsagePeriod.objects.get().runs == 5
    line = results(owner, made)[2]
    assert (line["status"], line["passed"], line["reason"]) == ("INTERNAL_ERROR", None, "internal_error")

    again = owner.post(f"/v1/evaluations/{made['evaluationId']}/retry")
    assert again.status_code == 202
    assert Evaluation.objects.filter(report__isnull=True).exists()
    assert read(again)["progress"]["queued"] == 1
    now = finish(owner, made, lambda fake, job: result(job, stderr=job.stdin))
    assert now["progress"]["unscored"] == 0
    assert now["passAtK"]["1"]["value"] == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert "3" in now["passAtK"]
    assert UsagePeriod.objects.get().runs == 6
    refused(owner.post(f"/v1/evaluations/{made['evaluationId']}/retry"), 409, "already_finished")


def test_identical_candidates_run_once_and_each_is_answered(owner: Caller) -> None:
    made = submit(owner, plain("a", "a", "b", "a"))
    assert (made["progress"]["total"], made["progress"]["deduplicated"]) == (4, 2)
    assert Execution.objects.count() == 2
    now = finish(owner, made)
    assert now["problems"][0]["n"] == 4
    assert [line["deduplicated"] for line in results(owner, made)] == [False, True, False, True]
    assert len({line["executionId"] for line in results(owner, made)}) == 2
    assert UsagePeriod.objects.get().runs == 2


def test_a_complaint_counts_only_where_assertions_do_no_more_than_complain(owner: Caller) -> None:
    problem = {"id": "p", "preset": "humaneval-x", "test": "test();", "prompt": ""}
    for language, passed in (("javascript", False), ("python", True)):
        body = {
            "language": language,
            "problems": [problem],
            "candidates": [{"problemId": "p", "completion": "complain"}],
        }
        made = submit(owner, body)
        finish(owner, made)
        (line,) = results(owner, made)
        assert (line["passed"], line["reason"]) == (passed, None if passed else "complained")


def test_a_secret_is_new_in_each_run(owner: Caller) -> None:
    submit(owner, plain("a", "b"))
    secrets = {bytes(secret) for secret in Execution.objects.values_list("stdin", flat=True)}
    assert len(secrets) == 2
    assert all(len(secret) == 33 for secret in secrets)


def test_cancelling_leaves_what_has_a_score(owner: Caller) -> None:
    allow(max_concurrency=1)
    made = submit(owner, plain("a", "b", "c"))
    first = Execution.objects.get(admitted_at__isnull=False)
    Workbench(obey).run(first.pk)
    response = owner.post(f"/v1/evaluations/{made['evaluationId']}/cancel")
    assert response.status_code == 202
    assert read(response)["status"] == "CANCELLED"
    assert read(response)["progress"]["scored"] == 1
    assert read(response)["progress"]["unscored"] == 2
    owner.post(f"/v1/evaluations/{made['evaluationId']}/retry")
    assert finish(owner, made)["progress"]["scored"] == 3


def test_the_manifest_says_what_a_paper_needs(owner: Caller) -> None:
    made = submit(owner, plain("a", limits={"cpuTimeMs": 4_000}, k=[1]))
    finish(owner, made)
    manifest = read(owner.get(f"/v1/evaluations/{made['evaluationId']}/manifest"))
    assert manifest["limits"]["cpuTimeMs"] == 4_000
    assert manifest["presets"] == [{"name": "plain", "version": "1"}]
    assert "Chen et al. 2021" in manifest["estimator"]
    assert manifest["runtimes"] == [
        {"version": "3.13.5", "image": "sha256:fake-python", "sandbox": "fake", "sandboxVersion": "0"}
    ]


def test_evaluations_are_listed_newest_first(owner: Caller, stranger: Caller) -> None:
    for name in ("one", "two", "three"):
        submit(owner, plain("a", name=name))
    page = read(owner.get("/v1/evaluations?limit=2"))
    assert [one["name"] for one in page["data"]] == ["three", "two"]
    rest = read(owner.get(f"/v1/evaluations?limit=2&cursor={page['nextCursor']}"))
    assert [one["name"] for one in rest["data"]] == ["one"]
    assert read(stranger.get("/v1/evaluations"))["data"] == []


def test_an_evaluation_of_another_account_is_not_there(owner: Caller, stranger: Caller) -> None:
    made = submit(owner, plain("a"))
    batch = Evaluation.objects.get().batch_id
    for path in ("", "/results", "/manifest"):
        refused(stranger.get(f"/v1/evaluations/{made['evaluationId']}{path}"), 404, "not_found")
    for path in ("/cancel", "/retry"):
        refused(stranger.post(f"/v1/evaluations/{made['evaluationId']}{path}"), 404, "not_found")
    refused(owner.get(f"/v1/evaluations/{uuid.uuid4()}"), 404, "not_found")
    refused(owner.get(f"/v1/batches/{batch}"), 404, "not_found")


# --- Once, whatever happens ------------------------------------------------------------------------------------------


def test_a_dry_run_tells_the_cost_and_runs_nothing(owner: Caller) -> None:
    allow(monthly_runs=10)
    response = post(owner, plain("a", "a", "b", dryRun=True))
    assert response.status_code == 200
    assert read(response) == {"dryRun": True, "runs": 2, "candidates": 3, "runsLeft": 10}
    assert not Execution.objects.exists()


def test_all_are_accepted_or_none(owner: Caller) -> None:
    allow(monthly_runs=2)
    refused(post(owner, plain("a", "b", "c")), 402, "quota_exceeded")
    assert not Evaluation.objects.exists()
    submit(owner, plain("a", "b", "b"))


def test_a_repeated_key_or_resume_runs_nothing_again(owner: Caller) -> None:
    body = plain("a", "b")
    made = submit(owner, body, "k")
    finish(owner, made)
    again = post(owner, body, "k")
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (200, "true")
    resumed = post(owner, {**body, "resume": True})
    assert resumed.status_code == 200
    assert {read(again)["evaluationId"], read(resumed)["evaluationId"]} == {made["evaluationId"]}
    refused(post(owner, plain("a", "c"), "k"), 422, "idempotency_key_reused")
    assert Execution.objects.count() == 2
    # As lines, in another order of problems and candidates, it is the same.
    header = {"language": "python", "resume": True}
    candidates = [{"problemId": "p", "id": str(index), "source": text} for index, text in enumerate("ab")]
    assert send(owner, lines(header, *candidates, body["problems"][0])).status_code == 200


def test_eight_at_once_with_one_key_make_one(owner: Caller) -> None:
    made = at_once([partial(post, owner, plain("a", "b"), "k")] * 8)
    assert len({read(response)["evaluationId"] for response in made}) == 1
    assert Execution.objects.count() == 2


def test_two_thousand_candidates_survive_three_lost_workers_and_two_restarts_of_the_client(owner: Caller) -> None:
    """Every program once in the record, the quota used for the distinct ones, the same pass@k as undisturbed."""
    allow(monthly_runs=None, max_queued=None, max_concurrency=500)
    body = {
        "language": "python",
        "k": [1, 10],
        "problems": [{"id": str(number), "preset": "plain", "test": "assert True"} for number in range(50)],
        "candidates": [
            {
                "problemId": str(number),
                "source": "crash" if index % (number + 2) else f"ok {index % 30}",
                "id": str(index),
            }
            for number in range(50)
            for index in range(40)
        ],
    }
    distinct = len({(one["problemId"], one["source"]) for one in body["candidates"]})  # type: ignore[index]
    made = submit(owner, body, "nightly")
    for _ in range(3):
        # A worker that claims and is never heard of again: its leases run out, and the sweep takes the runs back.
        claimed = list(Execution.objects.filter(status="QUEUED", admitted_at__isnull=False)[:100])
        gone = uuid.uuid4()
        for execution in claimed:
            lifecycle.claim(execution.pk, worker_id=gone)
        Execution.objects.filter(worker_id=gone).update(lease_until="2020-01-01T00:00:00Z")
        sweep.sweep()
        Execution.objects.filter(attempts__gte=2).exclude(status="RUNNING").update(attempts=1)
        assert read(post(owner, body, "nightly"))["evaluationId"] == made["evaluationId"]
    now = finish(owner, made)
    assert now["progress"]["scored"] == 2_000
    assert Execution.objects.count() == distinct
    assert UsagePeriod.objects.get().runs == distinct
    undisturbed = submit(owner, body)
    assert finish(owner, undisturbed)["passAtK"] == now["passAtK"]


# --- What is wrong is refused before anything runs -------------------------------------------------------------------

HEADER = {"language": "python"}
PROBLEM = {"id": "p", "preset": "plain", "test": "assert True"}
CANDIDATE = {"problemId": "p", "source": "a"}

FAULTS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "language"),
    "an empty line": (b"\n", "line 1"),
    "a header that is none": (lines([]), "line 1"),
    "no language": (lines({}, PROBLEM, CANDIDATE), "line 1.language"),
    "an unknown field": (lines({**HEADER, "x": 1}, PROBLEM, CANDIDATE), "line 1.x"),
    "no problem": (lines(HEADER), "problems"),
    "a problem without candidates": (lines(HEADER, PROBLEM, CANDIDATE, {**PROBLEM, "id": "q"}), "line 4"),
    "a candidate of no problem": (lines(HEADER, PROBLEM, {**CANDIDATE, "problemId": "q"}), "line 3.problemId"),
    "two problems of one id": (lines(HEADER, PROBLEM, PROBLEM, CANDIDATE), "line 3.id"),
    "two candidates of one id": (lines(HEADER, PROBLEM, *[{**CANDIDATE, "id": "1"}] * 2), "line 4.id"),
    "k above n": (lines({**HEADER, "k": [1, 2]}, PROBLEM, CANDIDATE), "line 2"),
    "k of zero": (lines({**HEADER, "k": [0]}, PROBLEM, CANDIDATE), "line 1.k[0]"),
    "an empty program": (lines(HEADER, PROBLEM, {**CANDIDATE, "source": " \n"}), "line 3.source"),
    "a program with NUL": (lines(HEADER, PROBLEM, {**CANDIDATE, "source": "a\0"}), "line 3.source"),
    "no program": (lines(HEADER, PROBLEM, {"problemId": "p"}), "line 3.source"),
    "a program that is none": (lines(HEADER, PROBLEM, {**CANDIDATE, "source": 5}), "line 3.source"),
    "source and completion": (lines(HEADER, PROBLEM, {**CANDIDATE, "completion": "a"}), "line 3.source"),
    "an unknown preset": (lines(HEADER, {**PROBLEM, "preset": "x"}, CANDIDATE), "line 2.preset"),
    "a preset of another language": (
        lines({"language": "cpp"}, {**PROBLEM, "preset": "mbpp"}, CANDIDATE),
        "line 2.preset",
    ),
    "a preset without a test": (lines(HEADER, {"id": "p", "preset": "plain"}, CANDIDATE), "line 2.test"),
    "humaneval without its function": (
        lines(HEADER, {**PROBLEM, "preset": "humaneval"}, CANDIDATE),
        "line 2.entryPoint",
    ),
    "neither tests nor a preset": (lines(HEADER, {"id": "p"}, CANDIDATE), "line 2.tests"),
    "not JSON": (lines(HEADER, PROBLEM) + b"{\n" + lines(CANDIDATE), "line 3"),
    "a list": (lines(HEADER, PROBLEM, [CANDIDATE]), "line 3"),
    "a test without an end": (
        lines({"language": "cpp"}, {**PROBLEM, "test": "int x;"}, CANDIDATE),
        "line 2.test",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_line_and_nothing_runs(owner: Caller, name: str) -> None:
    body, field = FAULTS[name]
    problem = refused(send(owner, body), 400, "invalid_request")
    assert field in fields(problem)
    assert not Execution.objects.exists()
    assert not Evaluation.objects.exists()


def test_invalid_json_on_line_31337_is_named(owner: Caller) -> None:
    body = lines(HEADER, PROBLEM, *[{**CANDIDATE, "id": str(index)} for index in range(31_334)]) + b'{"problemId": \n'
    problem = refused(send(owner, body), 400, "invalid_request")
    assert fields(problem) == ["line 31337"]


def test_a_stream_that_is_cut_in_the_middle_is_refused() -> None:
    body = lines(HEADER, PROBLEM, CANDIDATE)
    with pytest.raises(InvalidRequest) as refusal:
        list(reading.Lines(BytesIO(body[:-20]), len(body)))
    assert refusal.value.errors[0].field == "line 3"
    # Between two lines it is seen by the length.
    with pytest.raises(InvalidRequest, match="ends in the middle"):
        list(reading.Lines(BytesIO(lines(HEADER, PROBLEM)), len(body)))


def test_a_line_of_twenty_megabytes_is_refused_with_its_number(owner: Caller) -> None:
    body = lines(HEADER, PROBLEM) + b'{"problemId": "p", "source": "' + b"x" * (20 << 20) + b'"}\n'
    assert fields(refused(send(owner, body), 400, "invalid_request")) == ["line 3"]


def test_a_body_beyond_all_bounds_is_refused_before_it_is_read(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BODY_BYTES", 100)
    refused(send(owner, lines(HEADER, PROBLEM, CANDIDATE, CANDIDATE)), 413, "payload_too_large")


def test_one_candidate_too_many_is_refused(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_CANDIDATES", 2)
    body = lines(HEADER, PROBLEM, *[{**CANDIDATE, "id": str(index)} for index in range(3)])
    problem = refused(send(owner, body), 400, "invalid_request")
    assert fields(problem) == ["line 5"]


def test_fifty_thousand_candidates_are_taken_as_lines(owner: Caller) -> None:
    allow(monthly_runs=None, max_queued=None)
    body = lines(HEADER, PROBLEM, *[{**CANDIDATE, "id": str(i), "source": f"a {i % 5_000}"} for i in range(50_000)])
    response = send(owner, body)
    assert response.status_code == 202, response.content[:500]
    assert read(response)["progress"]["total"] == 50_000
    assert Execution.objects.count() == 5_000
    assert Candidate.objects.count() == 50_000


def test_as_one_object_faults_are_named_by_their_place(owner: Caller) -> None:
    body = {**HEADER, "problems": [PROBLEM, {"id": ""}], "candidates": [CANDIDATE, {"problemId": "q", "source": ""}]}
    problem = refused(post(owner, body), 400, "invalid_request")
    assert set(fields(problem)) == {"problems[1].id", "problems[1].tests", "candidates[1].source"}
    for name in ("problems", "candidates"):
        wrong = {**plain("a"), name: {}}
        assert name in fields(refused(post(owner, wrong), 400, "invalid_request"))


def test_scopes_are_their_own(owner: Caller) -> None:
    ApiKey.objects.update(scopes=["executions:read", "executions:write", "evaluations:read"])
    assert refused(post(owner, plain("a")), 403, "insufficient_scope")["scope"] == "evaluations:write"
    assert owner.get("/v1/evaluations").status_code == 200


def test_a_limit_above_the_plan_is_told_with_the_ceiling(owner: Caller) -> None:
    problem = refused(post(owner, plain("a", limits={"memoryMb": 9_999})), 400, "limit_above_plan")
    assert (fields(problem), problem["ceilings"]) == (["limits.memoryMb"], {"memoryMb": 1_024})
