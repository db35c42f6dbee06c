"""The gamma distribution.

Source: Gautschi, ACM Transactions on Mathematical Software 5 (1979): a series up to the mean, beyond it a
continued fraction. Both need some square roots of the shape of terms.
"""

import math

import numpy as np
import numpy.typing as npt

from jostle.analysis.stats.saddle_point import deviance, stirling_error
from jostle.analysis.stats.sample import Floats

__all__ = ["lower", "upper"]

TINY = 1e-300

PRECISION = 1e-15

_deviances = np.frompyfunc(deviance, 2, 1)


def upper(shape: float, x: npt.ArrayLike) -> Floats:
    """P(X > x) for every `x` ≥ 0, of the gamma distribution with this shape > 0 and scale 1."""
    return _both(shape, x)[1]


def lower(shape: float, x: npt.ArrayLike) -> Floats:
    """P(X ≤ x) for every `x` ≥ 0, as `upper`."""
    return _both(shape, x)[0]


def _both(shape: float, x: npt.ArrayLike) -> tuple[Floats, Floats]:
    """P(X ≤ x) and P(X > x): the smaller is calculated, the other is what is left."""
    x = np.asarray(x, dtype=np.float64)
    below, flat = np.empty(x.size), x.ravel()
    above, left = np.empty(x.size), flat < shape + 1
    for of, first, second, mass in ((left, below, above, _series), (~left, above, below, _fraction)):
        if of.any():
            first[of] = mass(shape, flat[of])
            second[of] = 1 - first[of]
    return below.reshape(x.shape), above.reshape(x.shape)


def _peak(shape: float, x: Floats) -> Floats:
    """x^a e^-x / Γ(a + 1)."""
    if shape < 1:
        with np.errstate(divide="ignore"):
            return np.exp(shape * np.log(x) - x - math.lgamma(shape + 1))
    height = math.exp(-stirling_error(shape)) / math.sqrt(2 * math.pi * shape)
    return height * np.exp(-shape * np.asarray(_deviances(x, shape), dtype=np.float64))


def _series(shape: float, x: Floats) -> Floats:
    """P(X ≤ x), for x < a + 1."""
    term = np.ones_like(x)
    total, a = term.copy(), shape
    while (term > PRECISION * total).any():
        a += 1
        term *= x / a
        total += term
    return _peak(shape, x) * total


def _fraction(shape: float, x: Floats) -> Floats:
    """P(X > x), for x ≥ a + 1: the continued fraction by Lentz's method."""
    b = x + 1 - shape
    c, d = np.full_like(x, 1 / TINY), 1 / b
    found, n = d.copy(), 0
    factor = np.zeros_like(x)
    while (np.abs(factor - 1) > PRECISION).any():
        n += 1
        numerator, b = -n * (n - shape), b + 2
        d = numerator * d + b
        d = 1 / np.where(np.abs(d) < TINY, TINY, d)
        c = b + numerator / c
        c = np.where(np.abs(c) < TINY, TINY, c)
        factor = d * c
        found *= factor
    return _peak(shape, x) * shape * found
