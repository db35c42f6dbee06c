"""Intervals for shares of requests, from the requests alone."""

import math

from jostle.analysis.stats import binomial
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.special import ndtri

__all__ = ["difference_of_shares", "share_interval"]


def share_interval(k: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """For k of n (n > 0), never too short: that none failed proves little.

    Source: Clopper and Pearson, Biometrika 26 (1934).
    """
    tail = (1 - confidence) / 2
    low = binomial.share_above(k, n, tail) if k else 0.0
    return low, binomial.share_below(k, n, tail) if k < n else 1.0


def difference_of_shares(
    k: int, n: int, j: int, m: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """For j/m - k/n, which may both be 0. Source: Newcombe, Statistics in Medicine 17 (1998), method 10."""
    p, q = k / n, j / m
    (low_p, high_p), (low_q, high_q) = _score(p, n, confidence), _score(q, m, confidence)
    return (
        q - p - math.hypot(q - low_q, high_p - p),
        q - p + math.hypot(high_q - q, p - low_p),
    )


def _score(p: float, n: int, confidence: float) -> tuple[float, float]:
    """Source: Wilson, JASA 22 (1927)."""
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    middle, half = p + z2 / (2 * n), math.sqrt(z2 * (p * (1 - p) + z2 / (4 * n)) / n)
    return max(0.0, (middle - half) / (1 + z2 / n)), min(1.0, (middle + half) / (1 + z2 / n))
