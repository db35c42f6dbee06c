"""A distribution as characters: its share of each part of a logarithmic axis."""

import bisect
import itertools
import math

from jostle.analysis.results import Distribution

__all__ = ["shape", "share_below", "shares_of", "span"]

BLOCKS = " ▁▂▃▄▅▆▇█"
GAP = 3
"""Neighbouring quantiles whose ratio is above this have a gap between them, in which nobody is."""


def span(found: list[Distribution]) -> tuple[float, float]:
    """The shortest and the longest time in seconds, apart enough for a logarithmic axis."""
    low = max(min(d.min_s for d in found if d.min_s is not None), 1e-6)
    return low, max(max(d.max_s for d in found if d.max_s is not None), low * 1.05)


def shape(found: Distribution, low: float, high: float, width: int) -> str:
    """The distribution as a line of blocks over a logarithmic axis; anything that is there leaves a mark."""
    edges = [low * (high / low) ** (i / width) for i in range(width + 1)]
    shares = shares_of(found, edges)
    most = max(shares)
    levels = [math.ceil(math.sqrt(s / most) * (len(BLOCKS) - 1)) for s in shares]
    return "".join(BLOCKS[level] for level in levels)


def shares_of(found: Distribution, edges: list[float]) -> list[float]:
    """The share of values between each edge and the next one, the first and the last with all beyond.

    What the line between two quantiles leaves in a gap is less than half a request: it belongs above the gap.
    """
    shares, rest = [], 0.0
    for low, high in itertools.pairwise([0.0, *(share_below(found, e) for e in edges[1:-1]), 1.0]):
        rest += high - low
        there = rest * found.n >= 0.5
        shares.append(rest if there else 0.0)
        rest = 0.0 if there else rest
    return shares


def share_below(found: Distribution, seconds: float) -> float:
    """The share of values up to `seconds`: counted where they are few, else between two quantiles."""
    if found.values_s:
        return bisect.bisect_right(found.values_s, seconds) / len(found.values_s)
    p, s = found.quantile_p, found.quantile_s
    if seconds < s[0]:
        return 0.0
    if found.max_s is not None and seconds >= found.max_s:
        return 1.0
    for i in range(len(s) - 1, -1, -1):
        if s[i] <= seconds:
            empty = i == len(s) - 1 or s[i + 1] == s[i] or s[i + 1] > GAP * s[i]
            part = 0.0 if empty else (seconds - s[i]) / (s[i + 1] - s[i])
            share = p[i] + (part * (p[i + 1] - p[i]) if part else 0.0)
            return max(share, 1 / found.n)  # the first one is there
    return 0.0
