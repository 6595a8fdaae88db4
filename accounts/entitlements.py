"""What an account may do. A limit's definition is here; whoever enforces it counts for itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from accounts.models import Account, Plan


@dataclass(frozen=True, slots=True)
class Range:
    """What holds when nothing is asked for, the least and the most that may be asked for."""

    default: int
    ceiling: int
    least: int = 1


# The limits of a run on each plan. The keys are the names of `sandbox.job.Limits`, with the units in them.
LIMITS: Mapping[str, Mapping[str, Range]] = {
    Plan.BETA: {
        "wall_time_ms": Range(10_000, 30_000),
        "cpu_time_ms": Range(5_000, 20_000),
        "compile_time_ms": Range(30_000, 60_000),
        "memory_mb": Range(256, 1_024, least=16),
        "processes": Range(64, 128),
        "output_bytes": Range(1 << 20, 4 << 20, least=0),
        "disk_mb": Range(64, 256),
    },
}


@dataclass(frozen=True, slots=True)
class Entitlements:
    """``None`` is without limit, ``0`` is none."""

    plan: str
    monthly_runs: int | None
    max_concurrency: int
    max_queued: int
    limits: Mapping[str, Range]


def entitlements(account: Account) -> Entitlements:
    return Entitlements(
        plan=account.plan,
        monthly_runs=account.monthly_runs,
        max_concurrency=account.max_concurrency,
        max_queued=account.max_queued,
        limits=LIMITS[account.plan],
    )
