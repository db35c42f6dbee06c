"""Rounds that fall into two groups: a server that settles in one of two ways, each time it is started.

Known of servers that share a core by time slices: a fast request that meets the slow one in step waits for a
whole slice every time, one that does not waits for none; which of the two it is, the start decides.

The rule is Dixon's: the largest gap between neighbours, as a share of the whole range. Five normal values
have a gap of three quarters of their range in 4.5 % of all cases, ten in 0.01 % (simulated).
Source: Dean and Dixon, Analytical Chemistry 23 (1951).
"""

import itertools
from collections.abc import Sequence

from jostle.analysis.results import Mode

__all__ = ["modes"]

GAP = 0.75
"""Of the range."""

APART = 0.15
"""Of the throughput alone: modes that are closer to one another matter to nobody."""

SUSPECT_ROUNDS = 4
"""Fewer rounds than this always have a gap."""


def modes(shares: Sequence[float], least: int = 2) -> list[Mode]:
    """The two groups of rounds, the lower one first; none where there is one group, or a group has less than
    `least` rounds. `shares`: in each round, the throughput beside a slow request over that alone.
    """
    if len(shares) < max(SUSPECT_ROUNDS, 2 * least):
        return []
    values = sorted(shares)
    gaps = [b - a for a, b in itertools.pairwise(values)]
    at = gaps.index(max(gaps)) + 1
    if gaps[at - 1] < APART or gaps[at - 1] < GAP * (values[-1] - values[0]):
        return []
    groups = values[:at], values[at:]
    if min(map(len, groups)) < least:
        return []
    return [Mode(len(group), sum(group) / len(group), group[0], group[-1]) for group in groups]
