"""pass@k: the published values, and against a count of every choice."""

from itertools import combinations
from math import comb
from random import Random

import pytest

from executions.evaluations.estimator import estimate, pass_at_k


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (5, 2, 1, 0.4),
        (5, 2, 2, 0.7),
        (5, 2, 3, 0.9),
        (10, 1, 5, 0.5),
        (200, 0, 1, 0.0),
        (200, 0, 100, 0.0),
        (200, 200, 1, 1.0),
        (1, 1, 1, 1.0),
        (4, 3, 2, 1.0),
    ],
)
def test_the_values_that_are_known(n: int, c: int, k: int, value: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=1e-12)


def test_it_is_the_share_of_choices_with_one_that_passes() -> None:
    for n in range(1, 8):
        for c in range(n + 1):
            for k in range(1, n + 1):
                choices = list(combinations([True] * c + [False] * (n - c), k))
                assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, choices)) / len(choices), abs=1e-12)


def test_it_equals_the_formula_on_164_problems_with_200_candidates() -> None:
    chance = Random(7)
    for _ in range(164):
        c = sum(chance.random() < 0.1 for _ in range(200))
        for k in (1, 10, 100):
            exact = 1 - comb(200 - c, k) / comb(200, k)
            assert pass_at_k(200, c, k) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 2, 6), (5, 2, 0), (0, 0, 1)])
def test_what_makes_no_sense_is_refused(n: int, c: int, k: int) -> None:
    with pytest.raises(ValueError, match="no pass@"):
        pass_at_k(n, c, k)


def test_the_interval_is_the_same_every_time_and_holds_the_value() -> None:
    chance = Random(3)
    values = [chance.random() for _ in range(164)]
    first = estimate(values)
    assert first == estimate(values)
    assert first.low < first.value < first.high
    assert first.value == pytest.approx(sum(values) / 164)
    # A normal approximation of the same thing.
    spread = 1.96 * (sum((value - first.value) ** 2 for value in values) / 163) ** 0.5 / 164**0.5
    assert first.high - first.low == pytest.approx(2 * spread, rel=0.1)


def test_without_spread_the_interval_is_the_value() -> None:
    assert estimate([0.0] * 9).high == 0.0
    assert estimate([1.0]).low == 1.0


def test_ten_thousand_problems_fit_into_memory() -> None:
    assert estimate([0.5] * 10_000).value == 0.5
