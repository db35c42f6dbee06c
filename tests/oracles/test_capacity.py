"""The statistics of a capacity: Wald's test as it was computed elsewhere; is an interval 95 %?"""

import math

import numpy as np
import pytest

from jostle.analysis.stats.crossing import crossing
from jostle.analysis.stats.sprt import around, decide
from jostle.capacity.queueing.erlang import response_tail


def test_walds_bounds() -> None:
    test = around(0.01)
    assert (test.p0, test.p1) == pytest.approx((0.008, 0.012))
    assert test.bound == pytest.approx(2.94443897917)
    assert decide(test, 729, 0) == "below"
    assert decide(test, 728, 0) == ""
    assert decide(test, 100, 20) == "above"
    assert decide(test, 729, 0, tau=2.0) == ""  # as many count as half as many


@pytest.mark.parametrize(("share", "wrong"), [(0.008, "above"), (0.012, "below")])
def test_the_test_errs_as_often_as_it_says(share: float, wrong: str) -> None:
    rng, test, errors = np.random.default_rng(5), around(0.01), 0
    for _ in range(400):
        n = exceeded = 0
        while not (found := decide(test, n, exceeded)):
            n, exceeded = n + 20, exceeded + int(rng.binomial(20, share))
        errors += found == wrong
    assert errors / 400 < 0.08


def true_crossing(workers: int) -> float:
    """Per second: where 1 % of the responses of M/M/c take longer than eight service times of 10 ms."""
    low, high = 1.0, workers * 100.0
    for _ in range(60):
        middle = (low + high) / 2
        broken = response_tail(0.08, workers, middle * 0.01, 0.01) > 0.01
        low, high = (low, middle) if broken else (middle, high)
    return low


def blocks(rng: np.random.Generator, workers: int, noise: float) -> tuple[list[float], list[int], list[int]]:
    """Levels around it, two blocks each; a block has a level of its own beside chance."""
    truth = true_crossing(workers)
    levels, n, exceeded = [], [], []
    for level in (0.6, 0.75, 0.85, 0.92, 1.0, 1.05, 1.1, 1.15) * 2:
        share = response_tail(0.08, workers, level * truth * 0.01, 0.01)
        odds = share / (1 - share) * math.exp(rng.normal(0, noise))
        levels.append(level * truth)
        n.append(1500)
        exceeded.append(int(rng.binomial(1500, odds / (1 + odds))))
    return levels, n, exceeded


@pytest.mark.parametrize(("workers", "noise"), [(1, 0.0), (4, 0.0), (2, 0.4)])
def test_the_interval_of_a_crossing_holds_the_true_one_in_95_percent(workers: int, noise: float) -> None:
    rng, held, truth = np.random.default_rng(7), 0, true_crossing(workers)
    for _ in range(60):
        found = crossing(*blocks(rng, workers, noise), 0.01)
        assert found is not None
        held += found.low <= truth <= found.high
    assert held / 60 >= 0.9


def test_levels_on_one_side_have_no_crossing() -> None:
    assert crossing([100, 200], [1000, 1000], [0, 3], 0.01) is None
    assert crossing([100, 200], [1000, 1000], [50, 300], 0.01) is None


def test_a_gap_between_all_and_nothing_is_the_interval() -> None:
    found = crossing([100, 100, 200, 200], [1000] * 4, [0, 0, 600, 700], 0.01)
    assert found is not None
    assert 100 <= found.low < 110
    assert found.high <= 200
    assert found.low < found.level < found.high
