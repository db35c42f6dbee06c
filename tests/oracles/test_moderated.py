"""Moderated variances against the formulas of Smyth (2004), and the intervals made of them by simulation."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special, stats

from jostle.analysis.stats.moderated import MAX_DF, TYPICAL_DF, Spread, Usual, fitted, moderated, typical

GENES = [
    [0.0098, 0.0213, 0.0031, 0.0442, 0.0127, 0.0085, 0.0310, 0.0064],
    [1.0, 1.3, 0.8, 1.1, 0.95],
    [1e-6, 1e-2],
]


def by_the_paper(variances: Sequence[float], df: Sequence[float]) -> tuple[float, float]:
    """d0 and s0² of section 6.2, with trigamma inverted by bisection."""
    s2, d = np.array(variances), np.array(df, dtype=float)
    e = np.log(s2) - special.digamma(d / 2) + np.log(d / 2)
    n = len(e)
    between = float(np.mean(n / (n - 1) * (e - e.mean()) ** 2 - special.polygamma(1, d / 2)))
    if between <= 0:
        return math.inf, float(s2.mean())
    half = optimize.brentq(lambda y: float(special.polygamma(1, y)) - between, 1e-6, 1e6, xtol=1e-12)
    return 2 * half, math.exp(float(e.mean()) + float(special.digamma(half)) - math.log(half))


def same(found: Spread, variance: float, df: float) -> bool:
    return (found.variance, found.df) == pytest.approx((variance, df))


@pytest.mark.parametrize("variances", GENES)
@pytest.mark.parametrize("df", [1, 2, 4, 9])
def test_what_is_usual_is_that_of_the_paper(variances: list[float], df: int) -> None:
    found = fitted([Spread(v, df) for v in variances])
    assert found is not None
    d0, scale = by_the_paper(variances, [df] * len(variances))
    assert found.variance == pytest.approx(scale, rel=1e-6)
    assert found.df == pytest.approx(min(d0, df * (len(variances) - 1)), rel=1e-6)


def test_cells_with_unlike_numbers_of_rounds() -> None:
    variances, df = [0.01, 0.04, 0.002, 0.03], [2, 2, 9, 4]
    found = fitted([Spread(v, d) for v, d in zip(variances, df, strict=True)])
    assert found is not None
    d0, scale = by_the_paper(variances, df)
    assert (found.variance, found.df) == pytest.approx((scale, d0), rel=1e-6)


def test_many_cells_tell_the_distribution_that_they_come_from() -> None:
    rng = np.random.default_rng(1)
    s0, d0, d = 0.01, 6.0, 4
    true = s0 * d0 / rng.chisquare(d0, 20_000)
    found = fitted([Spread(float(v), d) for v in true * rng.chisquare(d, len(true)) / d])
    assert found is not None
    assert found.variance == pytest.approx(s0, rel=0.05)
    assert found.df == pytest.approx(d0, rel=0.1)


def test_one_cell_tells_nothing_of_the_others() -> None:
    assert fitted([Spread(0.01, 2)]) is None
    assert fitted([Spread(0.01, 2), Spread(0.02, 0)]) is None
    assert moderated(Spread(0.01, 2), None) == Spread(0.01, 2)


def test_a_single_round_has_what_is_usual() -> None:
    assert same(moderated(Spread.of([1.0]), typical(0.1)), 0.01, TYPICAL_DF)


def test_a_cell_like_the_usual_one_gets_both_degrees_of_freedom() -> None:
    middle = float(stats.f.median(4, 10)) * 0.01
    found = moderated(Spread(middle, 4), Spread(0.01, 10))
    assert found.df == pytest.approx(14)
    assert found.variance == pytest.approx((4 * middle + 10 * 0.01) / 14)


@pytest.mark.parametrize("times", [1e-3, 1e3])
def test_a_cell_unlike_all_others_keeps_its_own_variance(times: float) -> None:
    own = Spread(0.01 * times, 4)
    found = moderated(own, Spread(0.01, 20))
    assert found.variance == pytest.approx(own.variance, rel=0.01)
    assert found.df == pytest.approx(own.df, rel=0.01)


def test_what_requests_explain_is_known_and_what_starts_explain_is_guessed() -> None:
    assert same(typical(0.1), 0.01, TYPICAL_DF)
    assert same(typical(0.1, variance_in_a_round=0.01), 0.02, 4 * TYPICAL_DF)
    assert typical(0.1, variance_in_a_round=1e6).df == MAX_DF


def test_cells_scale_what_was_recorded() -> None:
    quiet = Usual(0.1, Spread(0.25, 8))
    assert same(quiet.spread(0.01), 0.25 * 0.02, 8)
    assert Usual(0.1).spread(0.01) == typical(0.1, 0.01)


variance = st.floats(1e-7, 1e3)
freedom = st.floats(1, 200)


@given(variance, freedom, variance, freedom)
def test_between_its_own_variance_and_the_usual_one(v: float, d: float, u: float, d0: float) -> None:
    found = moderated(Spread(v, d), Spread(u, d0))
    assert min(v, u) * (1 - 1e-9) <= found.variance <= max(v, u) * (1 + 1e-9)
    assert d <= found.df <= d + d0 + 1e-9


@given(st.lists(variance, min_size=2, max_size=30), st.integers(1, 20), st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(variances: list[float], d: int, factor: float) -> None:
    before = fitted([Spread(v, d) for v in variances])
    after = fitted([Spread(v * factor, d) for v in variances])
    assert before is not None
    assert after is not None
    assert after.variance == pytest.approx(before.variance * factor, rel=1e-5)
    assert after.df == pytest.approx(before.df, rel=1e-5)
    assert 0 < before.df <= d * (len(variances) - 1)


@pytest.mark.parametrize("wild", [0.05, 0.3, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 20.0])
def test_no_cell_pays_for_what_is_usual_elsewhere(wild: float) -> None:
    """Three rounds, and a default that is `1 / wild` of the truth. Without the weight: 84 %."""
    rng = np.random.default_rng(5)
    cases, held, usual = 4000, 0, typical(0.1)
    for _ in range(cases):
        logs = rng.normal(0, 0.1 * wild, 3)
        spread = moderated(Spread.of(logs), usual)
        held += abs(logs.mean()) <= stats.t.ppf(0.975, spread.df) * math.sqrt(spread.variance / 3)
    assert 0.92 <= held / cases <= 0.97
