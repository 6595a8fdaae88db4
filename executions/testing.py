"""A program's tests: what is stored of them, what the sandbox is told, and how each result is judged and kept.

The expected outputs never leave the worker: a program that knew them could print them.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from executions.checkers import matches
from executions.models import Execution
from sandbox.job import Limits, Test
from sandbox.result import Result, RunResult
from sandbox.verdict import Verdict


def tests_of(execution: Execution) -> tuple[Test, ...]:
    """The tests as the sandbox runs them."""
    return tuple(
        Test(
            stdin=base64.b64decode(test["stdin"]),
            args=tuple(test["args"]),
            limits=Limits(**(execution.limits | test["limits"])) if test["limits"] else None,
        )
        for test in execution.tests or ()
    )


@dataclass(slots=True)
class Judge:
    """Says of each test, as it ends and on its whole output, whether it passed; and whether the next one shall run."""

    tests: Sequence[Mapping[str, Any]]
    stop_on_first_failure: bool
    passed: list[bool] = field(default_factory=list)

    def __call__(self, number: int, result: RunResult) -> bool:
        self.passed.append(_passes(self.tests[number], result))
        return self.passed[-1] or not self.stop_on_first_failure

    def results(self, result: Result) -> list[dict[str, Any]]:
        """The results as they are stored: bytes in base64."""
        return [
            {
                "id": test["id"],
                "status": run.verdict.value,
                "passed": passed,
                "stdout": base64.b64encode(run.stdout.content).decode(),
                "stderr": base64.b64encode(run.stderr.content).decode(),
                "stdoutBytes": run.stdout.total,
                "stderrBytes": run.stderr.total,
                "exitCode": run.exit_code,
                "signal": run.signal,
                "limitExceeded": run.limit_exceeded and run.limit_exceeded.value,
                "usage": {
                    "wallTimeMs": run.usage.wall_time_ms,
                    "cpuTimeMs": run.usage.cpu_time_ms,
                    "memoryPeakKb": run.usage.memory_peak_kb,
                },
            }
            for test, run, passed in zip(self.tests, result.tests, self.passed, strict=False)
        ]


def _passes(test: Mapping[str, Any], result: RunResult) -> bool:
    """Whether it succeeded and, where something is expected, printed that. A cut output is never the expected one."""
    if result.verdict is not Verdict.SUCCEEDED:
        return False
    if test["expected"] is None:
        return True
    expected = base64.b64decode(test["expected"])
    return matches(actual=result.stdout.content, expected=expected, checker=test["checker"])
