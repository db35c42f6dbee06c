"""Rounds that fall into two groups: a server that settles in one of two ways each time it is started.

This is known of servers that share a core by time slices. A fast request that is in step with the slow one
waits for a whole slice every time; one that is not does not wait at all. Which of the two it is depends on
the start.

The rule is Dixon's: the largest gap between neighbours, as a share of the whole range. Five normal values
have a gap of three quarters of their range in 4.5 % of all cases, ten in 0.01 % (simulated).
Source: Dean and Dixon, Analytical Chemistry 23 (1951).
"""

import itertools
from collections.abc import Sequence

from jostle.analysis.results import Mode

__all__ = ["modes"]

GAP = 0.75
"""Smallest gap between two groups, as a share of the range."""

APART = 0.15
"""Smallest gap between shares of one whole: modes closer together than this matter to nobody."""

SUSPECT_ROUNDS = 4
"""Among fewer rounds than this there is always a large gap."""


def modes(shares: Sequence[float], min_rounds: int = 2) -> list[Mode]:
    """The two groups of rounds, lower one first; empty for one group, or one of fewer than `min_rounds`
    rounds.

    `shares`: of each round, such as the throughput beside a slow request over that alone.
    """
    if len(shares) < max(SUSPECT_ROUNDS, 2 * min_rounds):
        return []
    values = sorted(shares)
    gaps = [b - a for a, b in itertools.pairwise(values)]
    at = gaps.index(max(gaps)) + 1
    if gaps[at - 1] < APART or gaps[at - 1] < GAP * (values[-1] - values[0]):
        return []
    groups = values[:at], values[at:]
    if min(map(len, groups)) < min_rounds:
        return []
    return [Mode(len(group), sum(group) / len(group), group[0], group[-1]) for group in groups]
