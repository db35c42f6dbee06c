"""Trends of series of known truth: stationary ones are flat, however their neighbours resemble one
another."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from jostle.analysis.stats.steady_state import trend

CASES = 60


def series(rng: np.random.Generator, n: int, phi: float) -> NDArray[np.float64]:
    """Around 1, with a standard deviation of 0.1, a first-order autoregression."""
    noise = rng.normal(size=n + 100)
    for i in range(1, len(noise)):
        noise[i] += phi * noise[i - 1]
    return 1 + 0.1 * np.sqrt(1 - phi**2) * noise[100:]


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("n", [60, 300])
def test_a_stationary_series_is_flat(n: int, phi: float) -> None:
    """It was called warm-up, slowdown or none in 3, 44, 76 and 99 % (60 values), up to 100 % (300)."""
    rng = np.random.default_rng(n)
    other = sum(trend(series(rng, n, phi)) != "flat" for _ in range(CASES))
    assert other <= int(stats.binom(CASES, 0.07).ppf(0.999))


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.5])
def test_a_warm_up_is_found(phi: float) -> None:
    """Half as slow again in the first third; at 0.5 it was found in 24 %."""
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(CASES):
        values = series(rng, 300, phi)
        values[:100] *= 1.5
        found += trend(values) == "warm-up"
    assert found >= 0.85 * CASES
