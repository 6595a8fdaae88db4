"""Samples, and the table that is made of them."""

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def timed_ms(call: Callable[[], Any]) -> float:
    """How long the call takes, in milliseconds."""
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1_000


def percentile(samples: Sequence[float], share: float) -> float:
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass
class Table:
    """Rows as they are measured, and the ratios that are promised."""

    ratios: dict[str, Any] = field(default_factory=dict)

    def section(self, title: str) -> None:
        print(f"\n{title}\n{'-' * len(title)}", flush=True)

    def row(self, name: str, samples: Sequence[float], unit: str) -> None:
        middle, high = statistics.median(samples), percentile(samples, 0.95)
        print(f"{name:<58}{middle:>10.1f} {unit}   p95 {high:.1f}   n {len(samples)}", flush=True)

    def ratio(self, name: str, over: Sequence[float], under: Sequence[float], *, key: str | None = None) -> None:
        """The ratio of two medians, kept under ``name`` (and, where there are several of it, ``key``)."""
        value = statistics.median(over) / statistics.median(under)
        kept = {"ratio": round(value, 3), "over": rounded(over), "under": rounded(under)}
        print(f"{name + (f' [{key}]' if key else ''):<58}{value:>10.2f} x", flush=True)
        if key is None:
            self.ratios[name] = kept
        else:
            self.ratios.setdefault(name, {})[key] = kept

    def write(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(self.ratios, indent=1) + "\n")
        print(f"\nRatios and samples: {path}")


def rounded(samples: Sequence[float]) -> list[float]:
    return [round(sample, 3) for sample in samples]
