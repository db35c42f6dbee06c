"""What the densities of the gamma and beta distributions are made of, without cancellation.

Each is Stirling's formula times the exponential of deviances, and so keeps its digits where its parameters
are millions and a difference of logarithms of gamma functions has lost them.
Sources: Loader, Fast and Accurate Computation of Binomial Probabilities (2000); Abramowitz and Stegun,
6.1.42.
"""

import math

__all__ = ["deviance", "stirling_error"]

LARGE = 16.0
"""From here on Stirling's series is exact to rounding."""

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""B₂ₖ / (2k (2k - 1)) for k = 1, 2, …"""

SERIES = 0.1
"""Ratios nearer to 1 than this are summed as a series; farther away nothing cancels."""


def stirling_error(a: float) -> float:
    """By how much ln Γ(a) exceeds Stirling's (a - ½) ln a - a + ½ ln 2π."""
    if a < LARGE:
        return math.lgamma(a) - ((a - 0.5) * math.log(a) - a + 0.5 * math.log(2 * math.pi))
    return sum(term / a ** (2 * k + 1) for k, term in enumerate(STIRLING))


def deviance(x: float, mean: float) -> float:
    """r - 1 - ln r for r = x / mean, of `x` ≥ 0, to full relative precision."""
    away = (x - mean) / mean
    if abs(away) > SERIES:
        return away - math.log(x / mean) if x > 0 else math.inf
    # ln r is 2 artanh(v), whose odd powers fall fast.
    v = away / (2 + away)
    return v * away - sum(2 * v ** (2 * k + 3) / (2 * k + 3) for k in range(8))
