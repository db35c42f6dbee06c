"""The binomial distribution, exact to rounding: quantiles of counts, tails, and the share behind a count.

Every probability is the previous one times a ratio, (n - k)/(k + 1) · p/(1 - p). They are summed around the
mode, as far as they are not 0 in a double, and scaled to add up to 1.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from jostle.analysis.stats.sample import Floats

__all__ = ["cdf", "log_at_least", "log_ways", "quantile", "share_above", "share_below"]

DEVIATIONS = 40
"""Beyond this many standard deviations plus counts from the mode, every probability is 0 in a double."""

BISECTIONS = 64
"""Halvings of the interval from 0 to 1: more than a double has binary digits."""


class _Table(NamedTuple):
    first: int  # the count at which the table begins
    cdf: Floats  # P(X ≤ k) from the first count on


@functools.lru_cache(maxsize=64)
def _table(n: int, p: float) -> _Table:
    mode = min(n, math.floor((n + 1) * p))
    reach = math.ceil(DEVIATIONS * math.sqrt(n * p * (1 - p))) + DEVIATIONS
    first, last = max(0, mode - reach), min(n, mode + reach)
    k = np.arange(first, last, dtype=np.float64)
    steps = np.log(n - k) - np.log(k + 1) + math.log(p) - math.log1p(-p)
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    each = np.exp(logs - logs.max())
    return _Table(first, np.cumsum(each) / each.sum())


def cdf(k: float, n: int, p: float) -> float:
    """P(Bin(n, p) ≤ k), for 0 < p < 1."""
    if k < 0:
        return 0.0
    table = _table(n, p)
    place = math.floor(k) - table.first
    return 0.0 if place < 0 else float(table.cdf[min(place, len(table.cdf) - 1)])


def quantile(q: float, n: int, p: float) -> int:
    """The smallest k with P(Bin(n, p) ≤ k) ≥ q, for 0 < p < 1."""
    table = _table(n, p)
    return min(n, table.first + int(np.searchsorted(table.cdf, q)))


def log_ways(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose k of n."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_at_least(k: int, n: int, p: float) -> float:
    """The logarithm of P(Bin(n, p) ≥ k), for k ≤ n and 0 ≤ p ≤ 1, however small it is."""
    if k <= 0 or p == 1:
        return 0.0
    if p == 0:
        return -math.inf
    count = np.arange(k, n, dtype=np.float64)
    steps = np.log(n - count) - np.log(count + 1) + math.log(p) - math.log1p(-p)
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    largest = float(logs.max())
    first = log_ways(n, k) + k * math.log(p) + (n - k) * math.log1p(-p)
    return min(0.0, first + largest + math.log(float(np.exp(logs - largest).sum())))


def share_below(k: int, n: int, q: float) -> float:
    """The p with P(Bin(n, p) ≤ k) = q, for 0 ≤ k < n."""
    return _solved(lambda p: cdf(k, n, p) > q)


def share_above(k: int, n: int, q: float) -> float:
    """The p with P(Bin(n, p) ≥ k) = q, for 0 < k ≤ n."""
    return _solved(lambda p: 1 - cdf(k - 1, n, p) < q)


def _solved(too_small: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if too_small(middle) else (low, middle)
    return (low + high) / 2
