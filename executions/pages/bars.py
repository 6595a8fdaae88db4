"""A bar of counts, as the parts of an SVG that is 100 wide. What it shows stands in words beside it."""

from collections.abc import Mapping
from dataclasses import dataclass

# What is good comes first, what is not yet known last.
_ORDER = ("passed", "wrong", "RUNTIME_ERROR", "COMPILE_ERROR", "TIMEOUT", "MEMORY_LIMIT", "OUTPUT_LIMIT")


@dataclass(frozen=True, slots=True)
class Part:
    """``x`` and ``width`` in hundredths of the bar."""

    name: str
    count: int
    x: float
    width: float


def parts_of(counts: Mapping[str, int]) -> list[Part]:
    total = sum(counts.values())
    order = {name: place for place, name in enumerate(_ORDER)}
    parts: list[Part] = []
    x = 0.0
    for name in sorted(counts, key=lambda name: (order.get(name, len(order)), name)):
        if counts[name] > 0:
            width = 100 * counts[name] / total
            parts.append(Part(name, counts[name], round(x, 3), round(width, 3)))
            x += width
    return parts
