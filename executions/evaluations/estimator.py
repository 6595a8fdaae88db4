"""The unbiased estimator of pass@k, and its interval. Pure.

Chen et al., "Evaluating Large Language Models Trained on Code", 2021, equation 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NAME = "unbiased pass@k (Chen et al. 2021, eq. 1); 95 % percentile bootstrap over problems, 10,000 resamples"
_RESAMPLES = 10_000
# The same every time, so that a report can be made again.
_SEED = 20_210_707
# Indices drawn at once: bounds the memory, whatever the number of problems.
_DRAWN_TOGETHER = 2_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """``low`` and ``high`` are the ends of the 95 % interval. All between 0 and 1."""

    value: float
    low: float
    high: float


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that one of ``k`` candidates passes, when ``c`` of ``n`` have. Needs 0 ≤ c ≤ n and 1 ≤ k ≤ n.

    1 - C(n-c, k) / C(n, k), as a product whose factors are all between 0 and 1: nothing overflows.
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"There is no pass@{k} of {c} in {n}.")
    if n - c < k:
        return 1.0
    return float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def estimate(values: Sequence[float]) -> Estimate:
    """The mean over problems, and how far it may be from what other problems of this kind would give."""
    array = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(_SEED)
    rows = max(1, _DRAWN_TOGETHER // len(array))
    means: list[float] = []
    while len(means) < _RESAMPLES:
        drawn = generator.integers(len(array), size=(min(rows, _RESAMPLES - len(means)), len(array)))
        means.extend(array[drawn].mean(axis=1))
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(float(array.mean()), float(low), float(high))
