"""One attempt: claim, evaluate, settle. Whatever goes wrong, the row ends somewhere and the thread lives on."""

import base64
import logging
import uuid

from django.db import connection

from executions import lifecycle
from executions.checkers import matches
from executions.models import Execution
from executions.worker import Resident
from sandbox.errors import RunCancelled, SandboxError
from sandbox.job import File, Job, Limits, Program
from sandbox.result import Result
from sandbox.verdict import Verdict

logger = logging.getLogger(__name__)


def run(execution_id: uuid.UUID, *, resident: Resident) -> None:
    """Run an execution that was admitted. Nothing happens when another worker has it, or it needs no run any more."""
    execution = lifecycle.claim(execution_id, worker_id=resident.id)
    if execution is None:
        return
    try:
        _attempt(execution, resident)
    except RunCancelled:
        lifecycle.cancelled(execution)
    except SandboxError as error:
        _log(execution, error)
        lifecycle.requeue_or_fail(execution, code=error.code, retryable=error.retryable)
    except Exception as error:  # noqa: BLE001  a bug of ours must not leave the row running until its lease ends
        _log(execution, error)
        lifecycle.requeue_or_fail(execution, code="unexpected", retryable=True)


def _attempt(execution: Execution, resident: Resident) -> None:
    with resident.holding(execution) as cancellation:
        if not resident.offers(execution.language, execution.version):
            raise RuntimeNotHere
        # A run takes seconds, and there are more threads than connections.
        if not connection.in_atomic_block:
            connection.close()
        result = resident.evaluator.evaluate(job_of(execution), cancellation)
        if not lifecycle.finish(execution, result, passed=_passed(execution, result)):
            logger.warning("Too late to finish", extra={"execution": execution.pk, "attempt": execution.attempts})


class RuntimeNotHere(SandboxError):
    """This worker does not have the version that was asked for; another may."""

    code = "runtime_not_here"


def job_of(execution: Execution) -> Job:
    """What the sandbox is told: the program and its input, and of the account and the execution only labels."""
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
        execution=str(execution.pk),
    )


def _passed(execution: Execution, result: Result) -> bool | None:
    if execution.checker is None or execution.expected_stdout is None:
        return None
    return result.verdict is Verdict.SUCCEEDED and matches(
        actual=result.stdout.content, expected=bytes(execution.expected_stdout), checker=execution.checker
    )


def _log(execution: Execution, error: Exception) -> None:
    logger.error(
        "The run failed on our side",
        exc_info=error,
        extra={"execution": execution.pk, "attempt": execution.attempts},
    )
