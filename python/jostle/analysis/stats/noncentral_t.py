"""The noncentral t distribution: Student's, where the means differ.

T = (Z + δ) / s, where Z is normal and s a standard deviation estimated with `df` degrees of freedom. So
P(T ≤ t) is the mean of Φ(t s - δ) over s. On the scale of u = ln s both factors are smooth and fall fast on
both sides, and the trapezoid rule has all digits once its step is a fraction of the narrowest feature.
Source: Trefethen and Weideman, SIAM Review 56 (2014), for the rule.
"""

import math
from functools import lru_cache

import numpy as np

from jostle.analysis.stats import normal
from jostle.analysis.stats.root import positive_root
from jostle.analysis.stats.saddle_point import stirling_error

__all__ = ["cdf", "noncentrality"]

NEGLIGIBLE = 90.0
"""The density of s is left out where its logarithm is this much below that at its mode."""


def cdf(df: float, noncentral: float, t: float) -> float:
    """P(T ≤ `t`) with `df` > 0 degrees of freedom and this noncentrality.

    Below 1e-15 it has fewer digits, and at last none.
    """
    step = 0.1 / (1 + math.sqrt(2 * df) / 2 + abs(noncentral))
    # The density falls as e^(df·u) on the left, and as e^(-df·u²) or faster on the right.
    left, right = NEGLIGIBLE / df + 1, min(math.sqrt(NEGLIGIBLE / df), 1 + math.log1p(NEGLIGIBLE / df))
    u = np.arange(-left, right + step, step)
    squares = np.exp(2 * u)
    height = math.exp(-stirling_error(df / 2)) * math.sqrt(df / math.pi)
    density = height * np.exp(df / 2 * (2 * u + 1 - squares))
    return float(density @ normal.cdf(t * np.exp(u) - noncentral)) * step


@lru_cache(maxsize=512)
def noncentrality(df: float, p: float, t: float) -> float:
    """The noncentrality > 0 with which P(T ≤ `t`) = `p`, where that is less than without any."""
    return positive_root(lambda noncentral: cdf(df, noncentral, t) - p)
