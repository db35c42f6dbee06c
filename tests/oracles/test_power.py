"""Dunnett's critical values against his tables, and the power that is promised against simulated runs."""

import math

import numpy as np
import pytest
from scipy import stats

from jostle.analysis.stats.dunnett import critical, within
from jostle.analysis.stats.forecast import MAX_ROUNDS, rounds_to_decide
from jostle.analysis.stats.many_to_one import against_first
from jostle.analysis.stats.moderated import typical
from jostle.analysis.stats.power import POWER, detectable, power
from jostle.cli.power import rounds_will_find


@pytest.mark.parametrize(
    ("others", "df", "value"),
    [(2, 5, 3.03), (2, 10, 2.57), (3, 10, 2.76), (3, 12, 2.68), (9, 20, 2.95), (1, 4, 2.78)],
)
def test_critical_values_are_those_of_dunnetts_table(others: int, df: int, value: float) -> None:
    """Biometrics 20 (1964), table II, two-sided, 5 %."""
    assert round(critical(others, df), 2) == value


def test_the_probability_is_that_of_the_multivariate_t() -> None:
    shape = np.full((3, 3), 0.5)
    np.fill_diagonal(shape, 1)
    exact = stats.multivariate_t(shape=shape, df=8, seed=1).cdf([2.5] * 3, lower_limit=[-2.5] * 3)
    assert within(2.5, 3, 8) == pytest.approx(exact, abs=2e-4)


@pytest.mark.parametrize("rounds", [3, 5, 10])
def test_so_many_runs_find_what_is_called_detectable(rounds: int) -> None:
    change = detectable(rounds, 0.1)
    assert change is not None
    rng = np.random.default_rng(rounds)
    runs, usual = 4000, typical(0.1 * math.sqrt(2))
    found = 0
    for first, second in rng.normal(0, 0.1, (runs, 2, rounds)):
        contrast = against_first(first, second + math.log1p(change), 1, None, usual=usual)
        found += abs(contrast.middle) > contrast.half
    assert POWER - 0.02 <= found / runs <= POWER + 0.03
    assert power(change, rounds, 0.1) == pytest.approx(POWER, abs=1e-3)


def test_pooling_the_error_of_several_contestants_pays_for_asking_several_times() -> None:
    assert power(0.2, 5, 0.1, others=3) == pytest.approx(power(0.2, 5, 0.1), abs=0.05)


def test_what_rounds_will_find_is_said_before_a_run() -> None:
    assert rounds_will_find(5) == (
        "5 rounds find a difference of 10 % (throughput, p50) and 30 % (p99) in 80 % of runs, if a server's "
        "rounds vary by 4 % (throughput, p50) and 11 % (p99)"
    )
    assert rounds_will_find(2).startswith("2 rounds tell no contestants apart")
    assert detectable(2, 0.1) is None
    assert power(1.0, 2, 0.1) == 0


def _undecided(rng: np.random.Generator, truth: float, limit: float = 1.0) -> list[float]:
    """Five rounds whose interval holds the limit."""
    while True:
        logs = rng.normal(math.log(truth), 0.1, 5)
        if stats.ttest_1samp(logs, math.log(limit)).pvalue > 0.05:
            return [float(v) for v in np.exp(logs)]


def test_as_many_rounds_as_are_forecast_do_decide() -> None:
    """10 % above the limit. A forecast of one number, which took the seen spread for true, held in 76 %."""
    rng = np.random.default_rng(1)
    decided = asked = 0
    for _ in range(300):
        found = rounds_to_decide(_undecided(rng, 1.1), 1.0)
        if found is not None:
            assert found[0] <= found[1] <= MAX_ROUNDS + 1
            asked += 1
            fresh = rng.normal(math.log(1.1), 0.1, min(found[1], MAX_ROUNDS))
            decided += stats.ttest_1samp(fresh, 0.0).pvalue < 0.05
    assert asked > 200
    assert decided > 0.9 * asked


def test_at_the_limit_itself_there_is_mostly_no_forecast() -> None:
    rng = np.random.default_rng(2)
    assert sum(rounds_to_decide(_undecided(rng, 1.0), 1.0) is None for _ in range(200)) > 110


def test_a_forecast_needs_three_positive_rounds() -> None:
    assert rounds_to_decide([1.5, 1.6], 1.0) is None
    assert rounds_to_decide([1.5, 1.6, 0.0], 1.0) is None
    assert rounds_to_decide([1.5, 1.5, 1.5], 1.0) == (3, 3)
    assert rounds_to_decide([1.13, 0.92] * 15, 1.0) == (MAX_ROUNDS + 1, MAX_ROUNDS + 1)
