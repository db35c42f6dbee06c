"""The root of a continuous function between two places where its signs differ.

Source: Chandrupatla, Advances in Engineering Software 28 (1997): inverse quadratic interpolation where the
last three points allow it, else bisection.
"""

import math
from collections.abc import Callable

__all__ = ["positive_root", "root"]

MAX_STEPS = 200
"""A bisection over all doubles needs fewer."""


MAX_LOG = 709.0
"""Farther from 0, ln x belongs to no double."""


def root(of: Callable[[float], float], low: float, high: float) -> float:
    """Where `of` is 0, as precisely as doubles allow. `of(low)` and `of(high)` must not have the same sign.

    An infinite value counts by its sign.
    """
    a, b = high, low
    at_a, at_b = of(a), of(b)
    c, at_c, share = a, at_a, 0.5
    for _ in range(MAX_STEPS):
        x = a + share * (b - a)
        at_x = of(x)
        if (at_x > 0) == (at_a > 0):
            c, at_c = a, at_a
        else:
            c, at_c, b, at_b = b, at_b, a, at_a
        a, at_a = x, at_x
        nearest, at_nearest = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        tolerance = 2 * math.ulp(nearest) / abs(b - a) if b != a else 1.0
        if tolerance > 0.5 or at_nearest == 0:
            return nearest
        share = min(max(_share(a, b, c, at_a, at_b, at_c), tolerance), 1 - tolerance)
    return nearest


def positive_root(of: Callable[[float], float]) -> float:
    """The x > 0 where a falling function is 0, found on the logarithmic scale.

    Raises ValueError if there is none.
    """
    step = 1.0 if of(1.0) > 0 else -1.0
    near, far = 0.0, step
    while of(math.exp(far)) * step > 0:
        near, far = far, 2 * far
        if abs(far) > MAX_LOG:
            raise ValueError("the function has the same sign everywhere")
    return math.exp(root(lambda u: of(math.exp(u)), near, far))


def _share(a: float, b: float, c: float, at_a: float, at_b: float, at_c: float) -> float:
    """Where between `a` and `b` to look next, as a share of their distance."""
    if not all(map(math.isfinite, (at_a, at_b, at_c))):
        return 0.5
    xi, phi = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
    if not 1 - math.sqrt(1 - xi) < phi < math.sqrt(xi):
        return 0.5
    return at_a / (at_b - at_a) * at_c / (at_b - at_c) + (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (
        at_c - at_b
    )
