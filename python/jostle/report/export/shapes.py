"""A distribution as characters: the share of all requests in each part of a logarithmic axis."""

import bisect
import itertools
import math

from jostle.analysis.results import Distribution

__all__ = ["round_edges", "shape", "share_below", "shares_of"]

BLOCKS = " ▁▂▃▄▅▆▇█"
GAP = 3
"""If the ratio of neighbouring quantiles is above this, there is a gap without requests between them."""


STEPS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,))
"""Edges of logarithmic bins within a decade, the finest first."""


def round_edges(low: float, high: float, max_bins: int) -> list[float]:
    """Round numbers from at most `low` to at least `high`, as edges of at most `max_bins` bins: logarithmic,
    or evenly spaced if the range is narrow. `low` and `high` must be above 0.
    """
    if high < 4 * low:
        widths = (float(f"{s}e{power}") for power in range(-6, 9) for s in (1, 2, 5))
        width = next(w for w in widths if (high - low) / w <= max_bins - 2)
        first, last = math.floor(low / width + 1e-9), math.ceil(high / width - 1e-9)
        return [round(n * width, 9) for n in range(first, max(last, first + 1) + 1)]
    for steps in STEPS:
        edges = [float(f"{s}e{power}") for power in range(-9, 9) for s in steps]
        first = bisect.bisect_right(edges, low) - 1
        last = bisect.bisect_left(edges, high)
        if last - first <= max_bins:
            break
    return edges[first : last + 1]


def shape(found: Distribution, low: float, high: float, width: int, unanswered: float = 0.0) -> str:
    """The distribution as a line of blocks over a logarithmic axis; even the smallest share is visible.

    The share without a response, if any, has the last block, after a vertical bar.
    """
    edges = [low * (high / low) ** (i / width) for i in range(width + 1)]
    shares = shares_of(found, edges) if found.quantile_s else [0.0] * width
    shares = [share * (1 - unanswered) for share in shares]
    largest = max([*shares, unanswered])
    levels = [math.ceil(math.sqrt(s / largest) * (len(BLOCKS) - 1)) for s in [*shares, unanswered]]
    drawn = [BLOCKS[level] for level in levels]
    return "".join(drawn[:-1]) + (f"│{drawn[-1]}" if unanswered else "")


def shares_of(found: Distribution, edges: list[float]) -> list[float]:
    """The share of values in each bin; the first and the last bin include everything beyond.

    Interpolation between two quantiles may leave less than half a request in a gap; it is moved to the next
    bin above the gap that has requests.
    """
    shares, rest = [], 0.0
    for low, high in itertools.pairwise([0.0, *(share_below(found, e) for e in edges[1:-1]), 1.0]):
        rest += high - low
        visible = rest * found.n >= 0.5
        shares.append(rest if visible else 0.0)
        rest = 0.0 if visible else rest
    return shares


def share_below(found: Distribution, seconds: float) -> float:
    """The share of responses up to `seconds`: counted if all values are known, otherwise interpolated between
    two quantiles and rounded to whole responses.

    The quantiles are those of all requests, so they end at the share that was answered.
    """
    if found.values_s:
        return bisect.bisect_right(found.values_s, seconds) / len(found.values_s)
    p, s = found.quantile_p, found.quantile_s
    if seconds < s[0]:
        return 0.0
    if found.max_s is not None and seconds >= found.max_s:
        return 1.0
    answered = max(p[-1], 1 / found.n)
    for i in range(len(s) - 1, -1, -1):
        if s[i] <= seconds:
            empty = i == len(s) - 1 or s[i + 1] == s[i] or s[i + 1] > GAP * s[i]
            part = 0.0 if empty else (seconds - s[i]) / (s[i + 1] - s[i])
            share = p[i] + (part * (p[i + 1] - p[i]) if part else 0.0)
            count = round(share / answered * found.n)
            return min(max(count, 1), found.n - 1) / found.n  # at least the shortest, but not the longest
    return 0.0
