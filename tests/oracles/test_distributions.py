"""The distributions that the statistics use, beside scipy's, over the whole range of their arguments.

Relative error 1e-10 at most. Fewer digits: the digamma function within 0.01 of its zero at 1.4616 (1e-10
absolutely); Student's t above a million degrees of freedom (1e-6); probabilities of the noncentral t below
1e-5 (1e-15 absolutely, as scipy's own).
"""

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import special

from jostle.analysis.stats import beta, chi_squared, gamma, noncentral_t, normal, polygamma, student

DIGITS = 1e-10
NOTHING = 1e-290
"""Below this, doubles themselves have fewer digits."""


def near(value: float, absolute: float = 0.0) -> object:
    return pytest.approx(float(value), rel=DIGITS, abs=absolute)


def logarithmic(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log(low), math.log(high)).map(math.exp)


DF = logarithmic(0.5, 1e5)
SHARE = st.one_of(logarithmic(1e-200, 0.5), logarithmic(1e-12, 0.5).map(lambda rest: 1 - rest))


@given(x=st.floats(-37, 40))
def test_the_normal_distribution(x: float) -> None:
    assert normal.cdf(x) == near(special.ndtr(x))


@given(p=st.one_of(logarithmic(1e-300, 0.5), logarithmic(1e-15, 0.5).map(lambda rest: 1 - rest)))
def test_quantiles_of_the_normal_distribution(p: float) -> None:
    assert normal.quantile(p) == near(special.ndtri(p), 1e-16)


@given(shape=logarithmic(0.05, 1e6), away=st.floats(-8, 30))
@example(shape=1.0, away=1.0)
@example(shape=16.0, away=0.0)
@settings(deadline=None)
def test_the_gamma_distribution(shape: float, away: float) -> None:
    x = shape * math.exp(away / math.sqrt(shape)) if shape > 1 else math.exp(min(away, 6.0))
    assume(special.gammaincc(shape, x) > NOTHING)
    assert float(gamma.upper(shape, x)) == near(special.gammaincc(shape, x))
    assume(special.gammainc(shape, x) > NOTHING)
    assert float(gamma.lower(shape, x)) == near(special.gammainc(shape, x))


def test_the_gamma_distribution_takes_arrays_of_any_shape() -> None:
    x = np.array([[0.0, 0.5, 3.0], [40.0, 100.0, 3.5]])
    assert gamma.upper(2.5, x) == pytest.approx(special.gammaincc(2.5, x), rel=DIGITS)
    assert gamma.upper(0.5, np.array([0.0])).tolist() == [1.0]


@given(x=logarithmic(1e-4, 1e8))
def test_derivatives_of_the_logarithm_of_the_gamma_function(x: float) -> None:
    absolute = DIGITS if abs(x - 1.4616) < 0.01 else 0.0
    assert float(polygamma.digamma(x)) == near(special.digamma(x), absolute)
    assert float(polygamma.trigamma(x)) == near(special.polygamma(1, x))
    assert float(polygamma.tetragamma(x)) == near(special.polygamma(2, x))


@given(df=DF, p=SHARE)
@example(df=11.0, p=1 - 1e-12)
@settings(deadline=None)
def test_quantiles_of_chi_squared(df: float, p: float) -> None:
    assume(special.chdtri(df, p) > NOTHING)
    assert chi_squared.upper_quantile(df, p) == near(special.chdtri(df, p))


@given(df=logarithmic(0.5, 1e6), t=logarithmic(1e-6, 1e4), sign=st.sampled_from([-1, 1]))
@example(df=1013.6, t=1.3e-6, sign=1)
@example(df=0.56, t=1e20, sign=-1)
@example(df=4.0, t=math.inf, sign=1)
@settings(deadline=None)
def test_students_distribution(df: float, t: float, sign: int) -> None:
    assume(special.stdtr(df, sign * t) > NOTHING)
    assert student.cdf(df, sign * t) == near(special.stdtr(df, sign * t))


@given(df=DF, p=st.one_of(logarithmic(1e-60, 0.5), logarithmic(1e-12, 0.5).map(lambda rest: 1 - rest)))
@example(df=2.0, p=0.975)
@example(df=3.0, p=0.5)
@example(df=0.5, p=1e-12)
@settings(deadline=None)
def test_quantiles_of_students_distribution(df: float, p: float) -> None:
    t = student.quantile(df, p)
    assert student.cdf(df, t) == near(p)
    assert special.stdtr(df, t) == near(p)


@pytest.mark.parametrize("df", [3e6, 1e8, 2e8, 1e12, math.inf])
def test_very_many_degrees_of_freedom(df: float) -> None:
    for t in (-30.0, -3.0, -0.2, 1.0, 5.0):
        assert student.cdf(df, t) == pytest.approx(float(special.stdtr(df, t)), rel=1e-6 if t > -10 else 1e-2)
    for p in (1e-9, 0.3, 0.5, 0.975, 0.999):
        assert student.quantile(df, p) == pytest.approx(float(special.stdtrit(df, p)), rel=1e-6, abs=1e-15)


@given(first=DF, second=DF, ratio=logarithmic(1e-4, 1e4))
@settings(deadline=None)
def test_the_ratio_of_two_variances(first: float, second: float, ratio: float) -> None:
    assume(special.fdtr(first, second, ratio) > NOTHING)
    both = first * ratio + second
    found = beta.cdf(first / 2, second / 2, first * ratio / both, second / both)
    assert found == near(special.fdtr(first, second, ratio))


@given(df=logarithmic(0.8, 2000), noncentral=st.floats(-5, 60), away=st.floats(-8, 8))
@settings(deadline=None)
def test_the_noncentral_t(df: float, noncentral: float, away: float) -> None:
    t = noncentral + away
    assume(abs(t) > 0.01)  # nearer to 0, scipy's value is that of 0
    assert noncentral_t.cdf(df, noncentral, t) == near(special.nctdtr(df, noncentral, t), 1e-15)


@given(df=logarithmic(0.8, 2000), t=st.floats(-8, 8))
@example(df=1.0, t=1e-9)
@settings(deadline=None)
def test_without_noncentrality_it_is_students(df: float, t: float) -> None:
    assert noncentral_t.cdf(df, 0.0, t) == near(student.cdf(df, t), 1e-15)


@given(df=logarithmic(0.8, 2000), t=st.floats(1.9, 15), p=st.sampled_from([0.05, 0.2, 0.5]))
@settings(deadline=None)
def test_the_noncentrality_of_a_probability(df: float, t: float, p: float) -> None:
    found = noncentral_t.noncentrality(df, p, t)
    assert special.nctdtr(df, found, t) == near(p)


def test_no_noncentrality_makes_a_probability_larger() -> None:
    with pytest.raises(ValueError, match="same sign"):
        noncentral_t.noncentrality(10, 0.999999, 1.0)
