"""Rounds are added until an interval decides: how often that is wrong, and how soon it is right."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from scipy.special import stdtrit

from jostle.analysis.results.rule import Rule
from jostle.analysis.stats.enough import FIRST_ROUNDS
from jostle.analysis.stats.moderated import typical
from jostle.analysis.stats.over_rounds import half_width, ratio_of_rounds
from jostle.analysis.stats.sequential import (
    MAX_ROUNDS,
    STUDENT,
    ConfidenceRule,
    fixed,
    repeated_looks,
)

RUNS, MANY, SPREAD = 200, 20_000, 0.1
"""`SPREAD`: standard deviation of the logarithm of b / a from round to round."""


def decisions(seed: int, ratio: float, level: ConfidenceRule) -> list[tuple[str, int]]:
    """Of each run, what was decided ("more", "less", "": nothing) and after how many rounds."""
    rng = np.random.default_rng(seed)
    return [_decided(np.exp(rng.normal(math.log(ratio), SPREAD, MAX_ROUNDS)), level) for _ in range(RUNS)]


def _decided(ratios: npt.NDArray[np.float64], level: ConfidenceRule) -> tuple[str, int]:
    for rounds in range(FIRST_ROUNDS, MAX_ROUNDS + 1):
        found = ratio_of_rounds(ratios[:rounds].tolist(), [1.0] * rounds, level(0.95, rounds))
        for side, rule in (("more", Rule(low=1.0)), ("less", Rule(high=1.0))):
            if rule.judge(found) == "holds":
                return side, rounds
    return "", MAX_ROUNDS


def ever_decided(draws: npt.NDArray[np.float64], level: ConfidenceRule) -> npt.NDArray[np.bool_]:
    """The same with Student's interval for many runs at once; `draws`: run by round."""
    sums, squares = draws.cumsum(axis=1), (draws**2).cumsum(axis=1)
    crossed = np.zeros(len(draws), dtype=np.bool_)
    for n in range(FIRST_ROUNDS, MAX_ROUNDS + 1):
        mean = sums[:, n - 1] / n
        deviation = np.sqrt((squares[:, n - 1] - n * mean**2) / (n - 1))
        limit = stdtrit(n - 1, (1 + level(0.95, n)) / 2)
        crossed |= np.abs(mean) > limit * deviation / math.sqrt(n)
    return crossed


def test_two_equal_servers_are_told_apart_in_at_most_one_of_twenty_runs() -> None:
    false = sum(side != "" for side, _ in decisions(1, 1.0, repeated_looks))
    assert false <= stats.binom.ppf(0.99, RUNS, 0.05)
    draws = np.random.default_rng(2).normal(size=(MANY, MAX_ROUNDS))
    assert ever_decided(draws, repeated_looks).mean() <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / MANY)


@pytest.mark.parametrize("wild", [0.3, 1.0, 2.0, 20.0])
def test_what_is_usual_elsewhere_makes_repeated_looks_hardly_bolder(wild: float) -> None:
    """At worst, where rounds vary by two to four times as much as usual, 6.8 % instead of 5 %."""
    rng, runs, usual = np.random.default_rng(6), 1500, typical(SPREAD)
    limits = {n: repeated_looks(0.95, n) for n in range(FIRST_ROUNDS, 21)}
    false = 0
    for logs in rng.normal(0, SPREAD * wild, (runs, 20)):
        false += any(
            abs(logs[:n].mean()) > half_width(logs[:n].tolist(), 1.0, level, usual)
            for n, level in limits.items()
        )
    assert false / runs <= 0.068 + 2 * math.sqrt(0.068 * 0.932 / runs)


def test_what_is_measured_next_may_depend_on_what_was_found() -> None:
    """Six questions without a difference share 90 rounds, each of which goes to the clearest difference.

    How long a question is followed depends on all of them, and nothing is decided that would not be decided
    if it were followed to the end.
    """
    questions, shared, runs = 6, 90, 1000
    draws = np.random.default_rng(5).normal(size=(runs, questions, MAX_ROUNDS))
    sums, squares = draws.cumsum(axis=2), (draws**2).cumsum(axis=2)
    limits = np.array([stdtrit(n - 1, (1 + repeated_looks(0.95, n)) / 2) for n in range(2, MAX_ROUNDS + 1)])
    every, rounds = np.arange(runs), np.full((runs, questions), FIRST_ROUNDS)
    decided = np.zeros((runs, questions), dtype=np.bool_)
    for _ in range(shared + 1):
        at = (*np.indices(rounds.shape), rounds - 1)
        mean = sums[at] / rounds
        t = np.abs(mean) / np.sqrt((squares[at] - rounds * mean**2) / (rounds - 1) / rounds)
        decided |= t > limits[rounds - 2]
        nearest = np.where(decided | (rounds == MAX_ROUNDS), -1.0, t).argmax(axis=1)
        rounds[every, nearest] += ~decided[every, nearest] & (rounds[every, nearest] < MAX_ROUNDS)
    followed = ever_decided(draws.reshape(-1, MAX_ROUNDS), repeated_looks).reshape(decided.shape)
    assert not (decided & ~followed).any()
    assert rounds.max() > 10 * FIRST_ROUNDS
    assert decided.any()


def test_intervals_for_one_look_would_be_wrong_several_times_as_often() -> None:
    false = sum(side != "" for side, _ in decisions(1, 1.0, fixed))
    assert false > 0.15 * RUNS


@pytest.mark.parametrize(("ratio", "power", "rounds"), [(1.1, 0.98, 14), (1.2, 1.0, 6), (1.5, 1.0, 3)])
def test_a_true_difference_is_found(ratio: float, power: float, rounds: int) -> None:
    """`rounds`: by which half of the runs have found it. Rounds differ by a tenth."""
    found = decisions(3, ratio, repeated_looks)
    assert sum(side == "more" for side, _ in found) >= power * RUNS
    assert sum(side == "less" for side, _ in found) == 0
    assert np.median([after for _, after in found]) <= rounds


def test_a_single_look_costs_what_was_spent_for_it() -> None:
    """Half of the error at the first look, and less at each later one."""
    nominal = [1 - repeated_looks(0.95, n) for n in range(FIRST_ROUNDS, MAX_ROUNDS + 1)]
    assert nominal[0] == pytest.approx(STUDENT * 0.05 / 2)
    assert nominal == sorted(nominal, reverse=True)


def test_the_boundaries_spend_what_they_should_where_the_spread_is_known() -> None:
    """By simulation of the random walk itself, without Student."""
    walk: Any = np.random.default_rng(4).normal(size=(MANY, 20)).cumsum(axis=1)
    crossed = np.zeros(MANY, dtype=np.bool_)
    for n in range(FIRST_ROUNDS, 21):
        crossed |= np.abs(walk[:, n - 1]) > math.sqrt(n) * stats.norm.isf((1 - repeated_looks(0.95, n)) / 2)
    spent = STUDENT * 0.05 * (1 - FIRST_ROUNDS / 40)
    assert crossed.mean() == pytest.approx(spent, abs=4 * math.sqrt(spent / MANY))
