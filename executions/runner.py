"""One attempt: claim, evaluate, settle. Whatever goes wrong, the row ends somewhere and the thread lives on."""

import base64
import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import connection

from executions import lifecycle
from executions.checkers import matches
from executions.evaluations import presets
from executions.models import Execution
from executions.testing import Judge, tests_of
from executions.worker import Resident
from sandbox.errors import RunCancelled, SandboxError
from sandbox.job import File, Isolation, Job, Limits, Program
from sandbox.result import Result, RunResult
from sandbox.verdict import Limit, Verdict

logger = logging.getLogger(__name__)

# A program that ran out of wall time with less CPU time than this share of its limits was waiting, or was kept waiting.
_IDLE_SHARE = 0.5
_LONGEST_OTHER_LOOK_S = 60
_WRONG = "wrong_output"


def run(execution_id: uuid.UUID, *, resident: Resident) -> None:
    """Run an execution that was admitted. Nothing happens when another worker has it, or it needs no run any more."""
    asked = Execution.objects.filter(pk=execution_id).values_list("language", "version").first()
    if asked is None or not resident.offers(*asked):
        return  # for a worker that has it: the sweep sends it again, and no attempt is lost
    claim = lifecycle.claim(execution_id, worker_id=resident.id)
    if claim is not None and (again := _attempt(claim, resident, alone=False)) is not None:
        _attempt(again, resident, alone=True)


def _attempt(claim: Execution, resident: Resident, *, alone: bool) -> Execution | None:
    """Run it and settle what came of it; or give the claim of another attempt, to be made ``alone``."""
    try:
        result, judge = _evaluate(claim, resident, alone=alone)
        if not alone and _deserves_another_look(result, job_of(claim), resident):
            again = lifecycle.claim_again(claim)
            if again is not None:
                return again
        _finish(claim, result, judge.results(result))
    except RunCancelled:
        lifecycle.cancelled(claim)
    except SandboxError as error:
        _log(claim, error)
        lifecycle.requeue_or_fail(claim, code=error.code, retryable=error.retryable)
    except Exception as error:  # noqa: BLE001  a bug of ours must not leave the row running until its lease ends
        _log(claim, error)
        lifecycle.requeue_or_fail(claim, code="unexpected", retryable=True)
    return None


def _evaluate(claim: Execution, resident: Resident, *, alone: bool) -> tuple[Result, Judge]:
    with resident.holding(claim) as cancellation:
        # A run takes seconds, and there are more threads than connections.
        if not connection.in_atomic_block:
            connection.close()
        judge = Judge(claim.tests or (), claim.stop_on_first_failure)
        return resident.evaluator.evaluate(replace(job_of(claim), alone=alone), cancellation, judge), judge


def _finish(claim: Execution, result: Result, test_results: Sequence[Mapping[str, Any]]) -> None:
    passed, failure = _judged(claim, result, test_results)
    if not lifecycle.finish(claim, result, passed=passed, failure=failure, test_results=test_results):
        logger.warning("Too late to finish", extra={"execution": claim.pk, "attempt": claim.attempts})


def _deserves_another_look(result: Result, job: Job, resident: Resident) -> bool:
    """Whether the clock ran out on a program that hardly got to work, on a machine that had no core to spare.

    Then it was perhaps the machine that was slow, and a verdict must not depend on that. Nothing that takes long is run
    again: all others wait meanwhile.
    """
    runs: list[tuple[Result | RunResult, Limits]] = [
        (test, given.limits or job.limits) for test, given in zip(result.tests, job.tests, strict=False)
    ]
    runs = runs or [(result, job.limits)]
    kept_waiting = any(
        run.verdict is Verdict.TIMEOUT
        and run.limit_exceeded is Limit.WALL_TIME
        and _is_idle(run.usage.cpu_time_ms, limits)
        for run, limits in runs
    )
    seconds = sum(limits.wall_time_ms for _, limits in runs) / 1_000
    return (
        result.was_crowded
        and kept_waiting
        and seconds <= _LONGEST_OTHER_LOOK_S
        and resident.evaluator.reserve_alone(seconds)
    )


def _is_idle(cpu_time_ms: int | None, limits: Limits) -> bool:
    return (cpu_time_ms or 0) < _IDLE_SHARE * min(limits.cpu_time_ms, limits.wall_time_ms)


def job_of(execution: Execution) -> Job:
    """What the sandbox is told: the program and its input, and of the account only a label."""
    return Job(
        program=Program(
            language=execution.language,
            source=execution.source,
            files=tuple(File(file["path"], base64.b64decode(file["content"])) for file in execution.files),
            options=execution.options,
        ),
        stdin=bytes(execution.stdin),
        args=tuple(execution.args),
        limits=Limits(**execution.limits),
        account=str(execution.account_id),
        isolation=Isolation(execution.isolation),
        tests=tests_of(execution),
        stops_early=execution.stop_on_first_failure,
    )


def _judged(
    execution: Execution, result: Result, test_results: Sequence[Mapping[str, Any]]
) -> tuple[bool | None, str | None]:
    """Whether it passed (None: nothing was expected), and why not where the verdict does not say it.

    `wrong_output`, `incomplete` (it ended before its tests had), `complained` (they ended, and it wrote to stderr).
    """
    if execution.tests is not None:
        passed = len(test_results) == len(execution.tests) and all(test["passed"] for test in test_results)
        return passed, _WRONG if result.verdict is Verdict.SUCCEEDED and not passed else None
    if execution.proof is not None:
        if result.verdict is not Verdict.SUCCEEDED:
            return False, None
        failure = presets.fault_of_proof(execution.proof, secret=bytes(execution.stdin), stderr=result.stderr.content)
        return failure is None, failure
    if execution.checker is None or execution.expected_stdout is None:
        return None, None
    if result.verdict is not Verdict.SUCCEEDED:
        return False, None
    passed = matches(actual=result.stdout.content, expected=bytes(execution.expected_stdout), checker=execution.checker)
    return passed, None if passed else _WRONG


def _log(execution: Execution, error: Exception) -> None:
    logger.error(
        "The run failed on our side",
        exc_info=error,
        extra={"execution": execution.pk, "attempt": execution.attempts},
    )
