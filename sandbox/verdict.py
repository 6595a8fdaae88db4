"""Evidence → verdict. Pure: takes measurements of the supervisor and the kernel, never a byte of program output.

The order is the contract: compile, time, memory, output, runtime error, success (a failure of ours is an exception
long before it gets here). A compiler has refused a program only when it ended by itself: one that a limit ended has
the limit's label, and the phase tells where. Exit codes carry no verdict: a program that exits with 137 or kills
itself with SIGKILL has failed by itself, and only a limit that was *seen to be reached* makes another label.
"""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How a program that was run ended. One per failure mode."""

    SUCCEEDED = "SUCCEEDED"
    COMPILE_ERROR = "COMPILE_ERROR"
    RUNTIME_ERROR = "RUNTIME_ERROR"
    TIMEOUT = "TIMEOUT"
    MEMORY_LIMIT = "MEMORY_LIMIT"
    OUTPUT_LIMIT = "OUTPUT_LIMIT"


class Phase(StrEnum):
    COMPILE = "compile"
    RUN = "run"


class Limit(StrEnum):
    """The limits that have a verdict of their own, by their names in the API."""

    WALL_TIME = "wallTime"
    CPU_TIME = "cpuTime"
    COMPILE_TIME = "compileTime"
    MEMORY = "memory"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of one cell that has ended.

    exit_code, signal   of the main process, as the kernel told: at most one is set, none when the sandbox went down
    reached             the limits that the supervisor, the kernel or the worker's own clock saw reached
    heap_exhausted      the language runtime reported that its heap, capped below the memory limit, was full
    """

    phase: Phase
    exit_code: int | None
    signal: str | None
    reached: frozenset[Limit] = frozenset()
    heap_exhausted: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    limit_exceeded: Limit | None = None
    exit_code: int | None = None
    signal: str | None = None


def decide(evidence: Evidence) -> Decision:
    """The verdict of a cell. A cell that we stopped for a limit has neither exit code nor signal of its own."""
    ended_well = evidence.exit_code == 0
    reached = evidence.reached
    if Limit.COMPILE_TIME in reached:
        return Decision(Verdict.TIMEOUT, Limit.COMPILE_TIME)
    if Limit.CPU_TIME in reached:
        return Decision(Verdict.TIMEOUT, Limit.CPU_TIME)
    if Limit.WALL_TIME in reached:
        return Decision(Verdict.TIMEOUT, Limit.WALL_TIME)
    if Limit.MEMORY in reached or (evidence.heap_exhausted and not ended_well):
        return Decision(Verdict.MEMORY_LIMIT, Limit.MEMORY, evidence.exit_code, evidence.signal)
    if evidence.phase is Phase.COMPILE:
        # What the compiler prints is cut, not punished; a compiler that crashes has refused the program.
        verdict = Verdict.SUCCEEDED if ended_well else Verdict.COMPILE_ERROR
        return Decision(verdict, None, evidence.exit_code, evidence.signal)
    if Limit.OUTPUT in reached:
        return Decision(Verdict.OUTPUT_LIMIT, Limit.OUTPUT)
    verdict = Verdict.SUCCEEDED if ended_well else Verdict.RUNTIME_ERROR
    return Decision(verdict, None, evidence.exit_code, evidence.signal)
