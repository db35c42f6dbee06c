"""The binomial distribution beside scipy's."""

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.special import betaincinv
from scipy.stats import binom

from jostle.analysis.stats import binomial
from jostle.analysis.stats.proportion import share_interval

SHARES = st.sampled_from([0.5, 0.9, 0.99, 0.999, 0.01, 1e-4])


@given(n=st.integers(1, 2_000_000), p=SHARES, away=st.floats(-6, 6))
@example(n=1, p=0.5, away=0.0)
@example(n=1_543_121, p=0.5, away=0.0)
def test_its_distribution_is_that_of_scipy(n: int, p: float, away: float) -> None:
    k = min(n, max(0, round(n * p + away * math.sqrt(n * p * (1 - p)))))
    assert binomial.cdf(k, n, p) == pytest.approx(float(binom.cdf(k, n, p)), rel=1e-7, abs=1e-12)
    assert binomial.cdf(-1, n, p) == 0
    assert binomial.cdf(n, n, p) == pytest.approx(1)


@example(n=38_429, p=0.5, q=0.5)
@given(n=st.integers(1, 2_000_000), p=SHARES, q=st.sampled_from([0.005, 0.025, 0.05, 0.5, 0.975, 0.995]))
def test_its_quantiles_are_those_of_scipy(n: int, p: float, q: float) -> None:
    """Where the distribution reaches q exactly, rounding decides between two neighbours."""
    ours, theirs = binomial.quantile(q, n, p), int(binom.ppf(q, n, p))
    if ours != theirs:
        assert abs(ours - theirs) == 1
        assert binom.cdf(min(ours, theirs), n, p) == pytest.approx(q, rel=1e-9)


@given(n=st.integers(1, 1_000_000), part=st.floats(0, 1), confidence=st.sampled_from([0.9, 0.95, 0.99]))
@example(n=100, part=0.0, confidence=0.95)
@example(n=100, part=1.0, confidence=0.95)
@example(n=1_000_000, part=1e-6, confidence=0.95)
def test_the_interval_of_a_share_is_that_of_the_beta_distribution(
    n: int, part: float, confidence: float
) -> None:
    k, tail = round(n * part), (1 - confidence) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    assert share_interval(k, n, confidence) == (pytest.approx(low, rel=1e-6), pytest.approx(high, rel=1e-6))


@given(n=st.integers(1, 5_000), p=SHARES, part=st.floats(0, 1))
@example(n=120, p=0.01, part=1.0)
@example(n=3_000, p=0.5, part=0.5)
def test_its_tail_is_that_of_scipy_however_small(n: int, p: float, part: float) -> None:
    k = round(part * n)
    ours, theirs = binomial.log_at_least(k, n, p), float(binom.logsf(k - 1, n, p))
    if theirs > -700:  # below, the probability is no normal double, of which scipy takes the logarithm
        assert ours == pytest.approx(theirs, rel=1e-8, abs=1e-10)
    else:
        assert ours < -700


@pytest.mark.parametrize(("k", "p", "chance"), [(0, 0.0, 1.0), (3, 0.0, 0.0), (3, 1.0, 1.0)])
def test_its_tail_where_nothing_is_left_to_chance(k: int, p: float, chance: float) -> None:
    assert math.exp(binomial.log_at_least(k, 5, p)) == chance
