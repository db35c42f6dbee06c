"""Several contestants against the first: how far apart they must be before a difference is reported.

Each comparison with the first has its own chance of a false alarm, and all share the first one's noise.
Dunnett's critical value holds for all of them at once.
Source: Dunnett, JASA 50 (1955) and Biometrics 20 (1964); the blocks are rounds: Hochberg and Tamhane,
Multiple Comparison Procedures (1987), section 4.2.
"""

import math
from functools import lru_cache

import numpy as np

from jostle.analysis.stats import chi_squared, normal, student
from jostle.analysis.stats.quantile_ci import CONFIDENCE

__all__ = ["critical", "within"]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_LEGENDRE, _LEGENDRE_WEIGHTS = np.polynomial.legendre.leggauss(64)

ENDS = 1 - 1e-12, 1e-12
"""Shares of the distribution of s between which it matters."""


def within(c: float, others: int, df: float) -> float:
    """P(|t| ≤ c for each of `others`), if all are equal. All t share the variance and the first mean.

    `df`: degrees of freedom of the variance. The t of any two others have a correlation of one half.
    """
    if others == 1:
        return 2 * student.cdf(df, c) - 1
    low, high = (math.sqrt(chi_squared.upper_quantile(df, p) / df) for p in ENDS)
    s = (high - low) / 2 * _LEGENDRE + (high + low) / 2
    log_density = (
        math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2) + (df - 1) * np.log(s) - df * s * s / 2
    )
    weight = np.exp(log_density) * _LEGENDRE_WEIGHTS * (high - low) / 2
    reach = math.sqrt(2) * c * s[:, None]
    inside = normal.cdf(reach - _NODES) - normal.cdf(-reach - _NODES)
    return float(weight @ (inside**others @ _WEIGHTS))


@lru_cache(maxsize=512)
def critical(others: int, df: float, confidence: float = CONFIDENCE) -> float:
    """The two-sided critical value; Student's if there is only one other."""
    single = student.quantile(df, (1 + confidence) / 2)
    if others == 1:
        return single
    upper = student.quantile(df, 1 - (1 - confidence) / (2 * others))  # Bonferroni's, an upper bound
    while upper - single > 1e-6:
        middle = (single + upper) / 2
        single, upper = (middle, upper) if within(middle, others, df) < confidence else (single, middle)
    return upper
