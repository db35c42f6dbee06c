"""Student's t distribution. Above a million degrees of freedom it has six digits."""

import math
from functools import lru_cache

from jostle.analysis.stats import beta, normal
from jostle.analysis.stats.root import positive_root

__all__ = ["cdf", "quantile"]

CENTRAL = 0.25
"""A quantile with less than this between it and the median is found by what lies between, else by its
tail."""

NORMAL = 1e8
"""From so many degrees of freedom on it is taken for the normal distribution."""


def cdf(df: float, t: float) -> float:
    """P(T ≤ t) with `df` > 0 degrees of freedom."""
    if df > NORMAL:
        return float(normal.cdf(t))
    return 1 - _tail(df, t) if t > 0 else _tail(df, t)


@lru_cache(maxsize=4096)
def quantile(df: float, p: float) -> float:
    """The t with P(T ≤ t) = `p`, for 0 < p < 1."""
    if df > NORMAL:
        return normal.quantile(p)
    away = p - 0.5
    if away == 0:
        return 0.0
    if abs(away) < CENTRAL:
        found = positive_root(lambda t: math.log(abs(away)) - _log(_between(df, t)))
    else:
        found = positive_root(lambda t: _log(_tail(df, t)) - math.log(min(p, 1 - p)))
    return math.copysign(found, away)


def _tail(df: float, t: float) -> float:
    """P(T > |t|)."""
    share, rest = _shares(df, t)
    return beta.cdf(df / 2, 0.5, share, rest) / 2


def _between(df: float, t: float) -> float:
    """P(0 < T < |t|)."""
    share, rest = _shares(df, t)
    return beta.cdf(0.5, df / 2, rest, share) / 2


def _shares(df: float, t: float) -> tuple[float, float]:
    """df / (df + t²), and what is left to 1."""
    ratio = abs(t) / math.sqrt(df)
    if ratio > 1:
        inverse = 1 / ratio**2 if ratio < 1e150 else 0.0
        return inverse / (1 + inverse), 1 / (1 + inverse)
    return 1 / (1 + ratio**2), ratio**2 / (1 + ratio**2)


def _log(mass: float) -> float:
    return math.log(mass) if mass else -math.inf
