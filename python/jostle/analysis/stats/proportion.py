"""Intervals for shares of requests, from requests alone and over rounds."""

import math
from collections.abc import Sequence

import numpy as np

from jostle.analysis.stats import binomial, chi_squared, normal, student
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.analysis.stats.over_rounds import half_width
from jostle.analysis.stats.quantile_ci import CONFIDENCE

__all__ = ["difference_of_shares", "share_interval", "share_over_rounds"]


LIKELY = 0.5
"""Rounds count as alike if this share of cases, or more, would differ as much by chance. With the usual
0.05 too many that differ would count as alike: intervals of three rounds would miss in 10 % (simulated)."""


def share_interval(k: int, n: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval for the share k of n (n > 0), never too short: even seeing no failures proves little.

    Source: Clopper and Pearson, Biometrika 26 (1934).
    """
    tail = (1 - confidence) / 2
    low = binomial.share_above(k, n, tail) if k else 0.0
    return low, binomial.share_below(k, n, tail) if k < n else 1.0


def share_over_rounds(
    failed: Sequence[int], ended: Sequence[int], confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Interval for the share of all requests; every round must have some. It spans up to three intervals.

    Clopper and Pearson's over requests; Student's over rounds, from `MIN_ROUNDS` on; and, if rounds differ
    by more than their requests explain, that of a lognormal mean, because rare bad rounds lie far above the
    others: Student's alone misses in 11 to 13 % where the logarithms of the rates differ by 0.8. Source of
    the last: Olsson, Journal of Statistics Education 13 (2005), the modified method of Cox.
    """
    k, n, rounds = sum(failed), sum(ended), len(failed)
    low, high = share_interval(k, n, confidence)
    if rounds < MIN_ROUNDS:
        return low, high
    counts, requests = np.array(failed, dtype=float), np.array(ended, dtype=float)
    p = k / n
    half = half_width((counts / requests).tolist(), 0.0, confidence)
    low, high = min(low, p - half), max(high, p + half)
    expected = requests * p
    alike = chi_squared.upper_quantile(rounds - 1, LIKELY)
    if 0 < p < 1 and float(((counts - expected) ** 2 / (expected * (1 - p))).sum()) > alike:
        logs = np.log((counts + 0.5) / (requests + 1))
        variance, t = float(np.var(logs, ddof=1)), student.quantile(rounds - 1, (1 + confidence) / 2)
        middle = float(logs.mean()) + variance / 2
        reach = t * math.sqrt(variance / rounds + variance**2 / (2 * (rounds - 1)))
        low, high = min(low, math.exp(middle - reach)), max(high, math.exp(min(0.0, middle + reach)))
    return max(0.0, low), min(1.0, high)


def difference_of_shares(
    k: int, n: int, j: int, m: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Interval for j/m - k/n; both may be 0.

    Source: Newcombe, Statistics in Medicine 17 (1998), method 10.
    """
    p, q = k / n, j / m
    (low_p, high_p), (low_q, high_q) = _score(p, n, confidence), _score(q, m, confidence)
    return (
        q - p - math.hypot(q - low_q, high_p - p),
        q - p + math.hypot(high_q - q, p - low_p),
    )


def _score(p: float, n: int, confidence: float) -> tuple[float, float]:
    """The score interval. Source: Wilson, JASA 22 (1927)."""
    z2 = normal.quantile((1 + confidence) / 2) ** 2
    middle, half = p + z2 / (2 * n), math.sqrt(z2 * (p * (1 - p) + z2 / (4 * n)) / n)
    return max(0.0, (middle - half) / (1 + z2 / n)), min(1.0, (middle + half) / (1 + z2 / n))
