"""The beta distribution: what Student's t and the ratio of two variances are read from.

Source: the continued fraction of Abramowitz and Stegun, 26.5.8, and the density as in `saddle_point`.
"""

import math

from jostle.analysis.stats.saddle_point import deviance, stirling_error

__all__ = ["cdf"]

TINY = 1e-300

PRECISION = 1e-15


def cdf(a: float, b: float, x: float, rest: float) -> float:
    """P(X ≤ x) for `a`, `b` > 0. `rest`: 1 - x, which is lost where x is near 1 unless it comes along."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _mass(b, a, rest, x)
    return _mass(a, b, x, rest)


def _mass(a: float, b: float, x: float, rest: float) -> float:
    return _peak(a, b, x, rest) * _fraction(a, b, x) / a


def _peak(a: float, b: float, x: float, rest: float) -> float:
    """x^a (1 - x)^b / B(a, b)."""
    of_a, of_b = a / (a + b), b / (a + b)
    stirling = stirling_error(a + b) - stirling_error(a) - stirling_error(b)
    exponent = stirling - a * deviance(x, of_a) - b * deviance(rest, of_b)
    return math.sqrt(a * of_b / (2 * math.pi)) * math.exp(exponent)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction by Lentz's method."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found, factor, m = d, 0.0, 0
    while abs(factor - 1) > PRECISION:
        m += 1
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + numerator * d)
            c = _not_zero(1 + numerator / c)
            factor = d * c
            found *= factor
    return found


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
