"""The plans, as `plans.toml` beside this file says them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The numbers of a plan. None is without limit, 0 is none.
NUMBERS = (
    "monthly_runs",
    "max_concurrency",
    "max_queued",
    "reads_per_minute",
    "writes_per_minute",
    "retention_days",
)
DEFAULT = "beta"


@dataclass(frozen=True, slots=True)
class Range:
    """What holds when nothing is asked for, the least and the most that may be asked for."""

    default: int
    ceiling: int
    least: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.default <= self.ceiling:
            raise ValueError(f"A limit's default must lie between its least and its ceiling: {self}")


@dataclass(frozen=True, slots=True)
class Terms:
    """A plan. The keys of ``limits`` are the names of `sandbox.job.Limits`, with the units in them."""

    name: str
    title: str
    numbers: Mapping[str, int | None]
    languages: frozenset[str]
    limits: Mapping[str, Range]


def _read(name: str, table: Mapping[str, Any]) -> Terms:
    unknown = set(table) - {*NUMBERS, "title", "languages", "limits"}
    if unknown:
        raise ValueError(f"plans.toml: [{name}] has {', '.join(sorted(unknown))}, which nothing reads.")
    return Terms(
        name=name,
        title=table["title"],
        numbers={number: table.get(number) for number in NUMBERS},
        languages=frozenset(table["languages"]),
        limits={limit: Range(**values) for limit, values in table["limits"].items()},
    )


PLANS: Mapping[str, Terms] = {
    name: _read(name, table)
    for name, table in tomllib.loads((Path(__file__).parent / "plans.toml").read_text()).items()
}

# What staff may change for one account: any single number.
OVERRIDABLE = (
    *NUMBERS,
    *(f"limits.{limit}.{end}" for limit in PLANS[DEFAULT].limits for end in ("default", "ceiling")),
)
