"""`tests` of an execution: one program, many runs, each judged on its whole output."""

import base64
from dataclasses import replace
from typing import Any

import pytest

from executions.models import Execution
from sandbox.fake import FakeEvaluator, echo, result
from sandbox.job import Job
from sandbox.result import Result, RunResult, Usage
from sandbox.verdict import Limit, Phase, Verdict
from tests.cast import Caller, Workbench, read

pytestmark = pytest.mark.django_db


def ask(owner: Caller, **changes: Any) -> dict[str, Any]:
    """Submit a program with tests and have it run by an evaluator that copies stdin to stdout."""
    return run_by(Workbench(), owner, **changes)


def run_by(workbench: Workbench, owner: Caller, **changes: Any) -> dict[str, Any]:
    queued = owner.submit(stdin="", **changes)
    assert queued["tests"] is None
    workbench.run_all()
    return owner.look(queued["executionId"])


def test_every_test_is_run_and_judged_by_its_checker(owner: Caller) -> None:
    shown = ask(
        owner,
        checker={"type": "tokens"},
        tests=[
            {"stdin": "1  2\n", "expectedStdout": "1 2"},
            {"id": "by itself", "stdin": "1  2\n", "expectedStdout": "1 2", "checker": {"type": "exact"}},
            {"stdin": "1.0001", "expectedStdout": "1", "checker": {"type": "float", "tolerance": 0.001}},
            {"stdin": "anything"},
        ],
    )
    assert [(test["id"], test["status"], test["passed"]) for test in shown["tests"]] == [
        ("0", "SUCCEEDED", True),
        ("by itself", "SUCCEEDED", False),
        ("2", "SUCCEEDED", True),
        ("3", "SUCCEEDED", True),
    ]
    assert (shown["status"], shown["passed"]) == ("SUCCEEDED", False)
    assert (shown["testsPassed"], shown["testsTotal"]) == (3, 4)
    assert (shown["stdout"], shown["stderr"]) == ("", "")


def test_all_passed_is_passed(owner: Caller) -> None:
    shown = ask(owner, tests=[{"stdin": "a", "expectedStdout": "a"}] * 2)
    assert (shown["passed"], shown["testsPassed"]) == (True, 2)


def test_the_first_failure_stops_the_rest_when_asked_to(owner: Caller) -> None:
    tests = [{"stdin": "a", "expectedStdout": expected} for expected in ("a", "b", "a")]
    shown = ask(owner, tests=tests, stopOnFirstFailure=True)
    assert [test["passed"] for test in shown["tests"]] == [True, False]
    assert (shown["passed"], shown["testsPassed"], shown["testsTotal"]) == (False, 1, 3)


def test_the_status_is_that_of_the_first_test_that_did_not_succeed(owner: Caller) -> None:
    def script(fake: FakeEvaluator, job: Job) -> Result:
        fine = RunResult(Verdict.SUCCEEDED, exit_code=0, usage=Usage(1, 1, 1))
        slow = RunResult(Verdict.TIMEOUT, Limit.CPU_TIME, usage=Usage(9, 9, 9))
        whole = replace(result(job, verdict=Verdict.TIMEOUT, exit_code=None), limit_exceeded=Limit.CPU_TIME)
        return replace(whole, tests=(fine, slow))

    workbench = Workbench(judging(script))
    shown = run_by(workbench, owner, tests=[{}, {}])
    assert (shown["status"], shown["limitExceeded"]) == ("TIMEOUT", "cpuTime")
    assert [test["limitExceeded"] for test in shown["tests"]] == [None, "cpuTime"]


def test_a_program_that_does_not_compile_fails_all_its_tests(owner: Caller) -> None:
    workbench = Workbench(
        lambda fake, job: result(job, verdict=Verdict.COMPILE_ERROR, phase=Phase.COMPILE, exit_code=None)
    )
    shown = run_by(workbench, owner, language="cpp", tests=[{}, {}])
    assert (shown["status"], shown["passed"]) == ("COMPILE_ERROR", False)
    assert (shown["tests"], shown["testsPassed"], shown["testsTotal"]) == ([], 0, 2)


def test_bytes_that_are_no_text_are_exact_in_base64(owner: Caller) -> None:
    raw = bytes(range(256))
    queued = owner.submit(stdin="", tests=[{"stdin": base64.b64encode(raw).decode(), "stdinEncoding": "base64"}])
    Workbench().run_all()
    (lossy,) = owner.look(queued["executionId"])["tests"]
    (exact,) = owner.look(queued["executionId"], "?encoding=base64")["tests"]
    assert lossy["outputLossy"]
    assert base64.b64decode(exact["stdout"]) == raw
    assert exact["stdoutBytes"] == 256


def test_a_test_has_its_own_limits_where_it_names_them(owner: Caller) -> None:
    workbench = Workbench()
    run_by(workbench, owner, limits={"memoryMb": 128}, tests=[{"limits": {"cpuTimeMs": 700}}, {}])
    (job,) = workbench.fake.jobs
    first, second = job.tests
    assert first.limits is not None
    assert (first.limits.cpu_time_ms, first.limits.memory_mb) == (700, 128)
    assert second.limits is None
    assert job.limits.memory_mb == 128


def test_what_was_submitted_is_shown_as_a_request_that_would_ask_for_the_same(owner: Caller) -> None:
    tests = [{"id": "x", "stdin": "a", "args": ["b"], "expectedStdout": "c", "limits": {"memoryMb": 64}}]
    queued = owner.submit(stdin="", tests=tests, stopOnFirstFailure=True)
    source = read(owner.get(f"/v1/executions/{queued['executionId']}/source"))
    again = owner.post("/v1/executions", {name: value for name, value in source.items() if value})
    assert again.status_code == 202, again.content
    first, second = Execution.objects.order_by("created_at").values("tests", "limits", "stop_on_first_failure")
    assert first == second


def test_lists_leave_the_tests_out(owner: Caller) -> None:
    ask(owner, tests=[{"stdin": "a"}])
    (item,) = read(owner.get("/v1/executions"))["data"]
    assert (item["tests"], item["testsPassed"], item["testsTotal"]) == (None, 1, 1)


def test_erasing_takes_the_tests_and_their_results(owner: Caller) -> None:
    shown = ask(owner, tests=[{"stdin": "secret", "expectedStdout": "secret"}])
    assert owner.delete(f"/v1/executions/{shown['executionId']}").status_code == 204
    row = Execution.objects.get(pk=shown["executionId"])
    assert (row.tests, row.test_results) == (None, [])


def test_the_evaluator_is_told_whether_a_sandbox_may_be_used_again(owner: Caller) -> None:
    workbench = Workbench()
    run_by(workbench, owner, tests=[{}], isolation="account")
    run_by(workbench, owner, tests=[{}])
    assert [job.isolation.value for job in workbench.fake.jobs] == ["account", "execution"]


# --- A time-out that may be the machine's ----------------------------------------------------------------------------


def idle_timeout(job: Job, *, cpu_time_ms: int, was_crowded: bool) -> Result:
    late = result(job, verdict=Verdict.TIMEOUT, exit_code=None)
    usage = Usage(wall_time_ms=10_000, cpu_time_ms=cpu_time_ms, memory_peak_kb=1)
    return replace(late, limit_exceeded=Limit.WALL_TIME, usage=usage, was_crowded=was_crowded)


def test_a_time_out_that_the_machine_may_have_caused_is_tried_once_more_alone(owner: Caller) -> None:
    def script(fake: FakeEvaluator, job: Job) -> Result:
        return echo(job) if job.alone else idle_timeout(job, cpu_time_ms=40, was_crowded=True)

    workbench = Workbench(script)
    queued = owner.submit(stdin="4")
    workbench.run_all()
    shown = owner.look(queued["executionId"])
    assert (shown["status"], shown["stdout"], shown["attempts"]) == ("SUCCEEDED", "4", 2)


def test_a_program_that_sleeps_stays_a_time_out(owner: Caller) -> None:
    workbench = Workbench(lambda fake, job: idle_timeout(job, cpu_time_ms=40, was_crowded=True))
    queued = owner.submit()
    workbench.run_all()
    shown = owner.look(queued["executionId"])
    assert (shown["status"], shown["limitExceeded"], shown["attempts"]) == ("TIMEOUT", "wallTime", 2)
    assert [job.alone for job in workbench.fake.jobs] == [False, True]


@pytest.mark.parametrize(("cpu_time_ms", "was_crowded"), [(40, False), (4_000, True)])
def test_no_second_look_at_a_program_that_worked_or_on_a_machine_that_had_room(
    owner: Caller, cpu_time_ms: int, was_crowded: bool
) -> None:
    workbench = Workbench(lambda fake, job: idle_timeout(job, cpu_time_ms=cpu_time_ms, was_crowded=was_crowded))
    queued = owner.submit()
    workbench.run_all()
    assert owner.look(queued["executionId"])["attempts"] == 1


# --- Scripts with tests ----------------------------------------------------------------------------------------------


def judging(script: Any) -> Any:
    """A script whose results the judge sees, as the real evaluator lets it."""

    def judged_script(fake: FakeEvaluator, job: Job) -> Result:
        whole: Result = script(fake, job)
        for number, run in enumerate(whole.tests):
            assert fake.judge is not None
            fake.judge(number, run)
        return whole

    return judged_script


def test_no_second_look_when_the_others_have_waited_enough(owner: Caller) -> None:
    workbench = Workbench(lambda fake, job: idle_timeout(job, cpu_time_ms=40, was_crowded=True))
    workbench.fake.grants_alone = False
    queued = owner.submit()
    workbench.run_all()
    assert owner.look(queued["executionId"])["attempts"] == 1


def test_no_second_look_at_what_takes_long(owner: Caller) -> None:
    late = RunResult(Verdict.TIMEOUT, Limit.WALL_TIME, usage=Usage(10_000, 40, 1))

    def script(fake: FakeEvaluator, job: Job) -> Result:
        return replace(idle_timeout(job, cpu_time_ms=40, was_crowded=True), tests=(late,) * 7)

    shown = run_by(Workbench(judging(script)), owner, tests=[{}] * 7)
    assert shown["attempts"] == 1
