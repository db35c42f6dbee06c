"""Indices of what a slow request does to the fast ones, over rounds, with the variation of all their parts.

Starvation index 1 - X(beside)/X(alone), from throughputs; blocking index (p99(beside) - p99(alone))/S,
where S is the time of the slow request. Both are those of a typical start, paired by round.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats.enough import MIN_ROUNDS, TOO_FEW_ROUNDS
from jostle.analysis.stats.over_rounds import half_width, typical_over_rounds
from jostle.analysis.stats.quantile_ci import CONFIDENCE

__all__ = ["blocking_index", "share_left", "starvation_index"]

HARDLY_ANY = 0.1
"""Largest share of the throughput that counts as hardly any."""

FINEST = 0.01
"""Where hardly anything is left, half an interval is at least this wide."""


def share_left(values: Sequence[float], unit: str = "", confidence: float = CONFIDENCE) -> Estimate:
    """The share of a throughput that is left at a typical start, from one share per round.

    On the logarithmic scale, unless hardly anything is left in any round: near 0, logarithms differ widely
    where the shares hardly do. Even then the upper end is at least that of the logarithms, up to
    `HARDLY_ANY`: three rounds that are all low by chance would otherwise miss in 9 %.
    """
    n = len(values)
    if not n:
        return Estimate(None, unit=unit, note="nothing to compare with")
    if max(values) > HARDLY_ANY:
        return typical_over_rounds(values, unit, confidence)
    mean, rounds = float(np.mean(values)), tuple(values)
    if n < MIN_ROUNDS:
        return Estimate(mean, unit=unit, n=n, note=TOO_FEW_ROUNDS, rounds=rounds)
    half = max(half_width(values, 0.0, confidence), FINEST)
    by_logarithms = typical_over_rounds(values, unit, confidence).high or 0.0  # None where some round has 0
    high = max(mean + half, min(HARDLY_ANY, by_logarithms))
    return Estimate(mean, max(0.0, mean - half), high, unit, n=n, rounds=rounds)


def starvation_index(left: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """`left`: in each round, the throughput beside a slow request over that alone."""
    found = share_left(left, "", confidence)
    value, low, high = (None if v is None else 1 - v for v in (found.value, found.high, found.low))
    note = found.note
    if value is None and left:
        note = f"{note} (shares of the throughput that were left)"
    return replace(found, value=value, low=low, high=high, note=note, rounds=tuple(1 - v for v in left))


def blocking_index(
    before: Sequence[float], after: Sequence[float], slow: Estimate, confidence: float = CONFIDENCE
) -> Estimate:
    """`before` and `after`: p99 of the fast requests in each round, alone and beside slow ones.

    `slow` must have a value. Above 1, fast requests wait for more than one slow one: they queue up.

    The interval contains the variation of all three times (delta method, by rounds). It is computed on the
    logarithm of the time beside slow requests, because times vary by factors; a factor of the index itself
    would make no sense where that is nearly 0. Coverage is simulated (tests/oracles/test_indices.py).
    """
    n, seconds = len(before), slow.value or math.inf
    xs, ys = np.log(before), np.log(after)
    x, y = math.exp(float(xs.mean())), math.exp(float(ys.mean()))
    index = (y - x) / seconds
    if n < MIN_ROUNDS:
        return Estimate(index, unit="", n=n, note=TOO_FEW_ROUNDS)
    parts = (y * ys - x * xs) / seconds
    if len(slow.rounds) == n:  # measured in the same rounds
        half = half_width((parts - index * np.log(slow.rounds)).tolist(), index, confidence)
    else:
        own = half_width(np.log(slow.rounds).tolist(), 1.0, confidence) if len(slow.rounds) > 1 else 0.0
        half = math.hypot(half_width(parts.tolist(), index, confidence), index * own)
    each = tuple(((np.exp(ys) - np.exp(xs)) / seconds).tolist())
    factor = math.exp(min(half * seconds / y, 700.0))
    return Estimate(index, (y / factor - x) / seconds, (y * factor - x) / seconds, "", n=n, rounds=each)
