"""What all blocks of one level say together: whether the SLO holds there."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jostle.analysis.results.capacity import LevelDecision
from jostle.analysis.stats.crossing import Crossing, crossing
from jostle.analysis.stats.sprt import around, decide
from jostle.capacity.block import Block
from jostle.capacity.queueing.clusters import cluster_size
from jostle.capacity.slo import Slo

__all__ = ["BROKEN", "Level", "by_level", "crossing_of", "first_limited"]

NEAR = (1 / 10, 10.0)
"""Levels with shares between these multiples of the limit show how requests that break an SLO cluster."""

BROKEN = 0.01
"""A server that fails more than this share of single requests has no capacity to be found."""

MIN_PARTS = 4
MIN_EXCEEDED = 3
"""Fewest broken requests that a first look takes for more than chance."""


@dataclass(frozen=True)
class Level:
    """All blocks of one rate, or number of clients."""

    level: float
    blocks: tuple[Block, ...]
    slos: tuple[Slo, ...]
    shared: tuple[float, ...] = ()
    """For each SLO, the autocorrelation time near its limit."""

    @property
    def counted(self) -> list[Block]:
        """The blocks that say something about the server."""
        return [block for block in self.blocks if block.counts]

    @property
    def limited(self) -> list[Block]:
        return [block for block in self.blocks if block.limited]

    def total(self, slo: int) -> tuple[int, int]:
        """Number of requests that count for an SLO (given by its number), and of those that broke it."""
        tallies = [block.tallies[slo] for block in self.counted]
        return sum(t.n for t in tallies), sum(t.exceeded for t in tallies)

    def share(self, slo: int) -> float:
        n, exceeded = self.total(slo)
        return exceeded / n if n else 0.0

    def tau(self, slo: int) -> float:
        """The autocorrelation time of "breaks the SLO": its own, or that of levels near the limit if longer.

        A level at which no request was late does not show how late requests cluster.
        """
        return max(self.shared[slo] if self.shared else 1.0, _dispersion([self], slo))

    def tau_at_limit(self, slo: int) -> float:
        """The same, if the SLO ceases to hold here.

        A few clusters do not show how large they are, so it is at least what queueing theory expects, but at
        most so long that each part of a block still counts as one request.
        """
        limit_s, rate = self.slos[slo].limit_s, max((block.rate for block in self.counted), default=0.0)
        if limit_s is None or not rate:
            return self.tau(slo)
        parts = sum(len(block.tallies[slo].parts) for block in self.counted)
        max_tau = self.total(slo)[0] / max(1, parts)
        return max(self.tau(slo), min(cluster_size(rate, limit_s, self.slos[slo].share), max_tau))

    @property
    def died(self) -> str:
        """How the server ended in the middle of a block; "" if it did not."""
        return next((block.died for block in self.counted if block.died), "")

    @property
    def decided(self) -> LevelDecision:
        """By the sequential test of each SLO: misses if one of them does, holds if all do."""
        if len(self.limited) > len(self.counted):
            return "generator"
        if not self.counted:
            return "away" if any(block.away for block in self.blocks) else "spoiled"
        if self.died:
            return "misses"
        found = [decide(around(slo.share), *self.total(i), self.tau(i)) for i, slo in enumerate(self.slos)]
        if "above" in found:
            return "misses"
        return "holds" if all(one == "below" for one in found) else "undecided"

    @property
    def provisional_decision(self) -> LevelDecision:
        """As `decided`; if that is open, what a first look says, from which the search continues."""
        if self.decided != "undecided":
            return self.decided
        for i, slo in enumerate(self.slos):
            n, exceeded = self.total(i)
            if exceeded >= MIN_EXCEEDED and exceeded > 2 * slo.share * n:
                return "misses"
        return "holds" if all(self.share(i) <= slo.share for i, slo in enumerate(self.slos)) else "undecided"


def by_level(blocks: Sequence[Block], slos: Sequence[Slo]) -> list[Level]:
    """The levels in ascending order."""
    found: dict[float, list[Block]] = {}
    for block in blocks:
        found.setdefault(block.level, []).append(block)
    alone = [Level(level, tuple(found[level]), tuple(slos)) for level in sorted(found)]
    shared = tuple(_shared(alone, i, slo.share) for i, slo in enumerate(slos))
    return [replace(level, shared=shared) for level in alone]


def _shared(levels: Sequence[Level], slo: int, limit: float) -> float:
    near = [one for one in levels if NEAR[0] * limit <= one.share(slo) <= NEAR[1] * limit]
    return _dispersion(near, slo)


def _dispersion(levels: Sequence[Level], slo: int) -> float:
    """The autocorrelation time by batch means, at least 1.

    It is how many times more the counts of parts of blocks vary than those of independent requests.
    """
    total, free = 0.0, 0
    for level in levels:
        parts = [part for block in level.counted for part in block.tallies[slo].parts if part[0]]
        n, exceeded = sum(n for n, _ in parts), sum(k for _, k in parts)
        if len(parts) >= MIN_PARTS and 0 < exceeded < n:
            p = exceeded / n
            total += sum((k - m * p) ** 2 / (m * p * (1 - p)) for m, k in parts)
            free += len(parts) - 1
    return max(1.0, total / free) if free else 1.0


def first_limited(levels: Sequence[Level]) -> float:
    """The lowest level at which the generator was the limit; infinite if it never was."""
    return min((level.level for level in levels if level.decided == "generator"), default=float("inf"))


def crossing_of(levels: Sequence[Level], slo: int) -> Crossing | None:
    """Where an SLO (given by its number) ceases to hold; blocks count by their independent requests.

    A block in which the server died counts as a single request that broke every SLO.
    """
    at, n, exceeded = list[float](), list[float](), list[float]()
    for level in levels:
        tau = level.tau_at_limit(slo)
        for block in level.counted:
            tally = block.tallies[slo]
            total, broken = (1, 1) if block.died else (tally.n, tally.exceeded)
            if total:
                at.append(level.level)
                n.append(total / tau)
                exceeded.append(broken / tau)
    found = crossing(at, n, exceeded, levels[0].slos[slo].share) if at else None
    return None if found is None else _between_decided(found, levels, slo)


def _between_decided(found: Crossing, levels: Sequence[Level], slo: int) -> Crossing:
    """The crossing, moved so that it is not below a level that holds, nor above one that misses.

    The curve may put it there because a share may jump. A level at which the server died misses.
    """
    about = around(levels[0].slos[slo].share)
    decided = {
        x.level: "above" if x.died else decide(about, *x.total(slo), x.tau_at_limit(slo))
        for x in levels
        if x.counted
    }
    low = max((level for level, one in decided.items() if one == "below"), default=0.0)
    high = min((level for level, one in decided.items() if one == "above" and level > low), default=math.inf)
    level = min(max(found.level, low), high)
    return found._replace(level=level, low=min(found.low, level), high=max(found.high, level))
