"""Which levels are measured next: double until the SLO breaks, then close in, in random order.

The search has no side effects: it looks at the blocks so far and returns the next batch. A batch contains
each level once, in random order, so that changes of the machine or the server over time do not look like
effects of the load. A level that the sequential test has decided is not measured again; levels near the
crossing are, until the interval of the response is narrow enough or the time is spent.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from jostle.analysis.stats.crossing import Crossing
from jostle.capacity.block import Block
from jostle.capacity.levels import Level, by_level, crossing_of, first_limited
from jostle.capacity.slo import Slo

__all__ = ["DOUBLING", "FITTED", "HELD_OUT", "Search", "SearchStep", "decisive", "estimate_of", "found_by"]

FITTED = (0.2, 0.4, 0.6)
HELD_OUT = (0.3, 0.5, 0.7, 0.85)
"""Levels, as shares of the capacity, at which a model is fitted, and those at which it is judged."""

APART = 1.1
"""A level for the model is at least this factor away from all others."""

DOUBLING = "doubling"

CLOSE = 1.015
"""Levels that differ by less than this factor count as the same."""

REACH = 1.2
"""Only levels at most this factor away from the crossing help to locate it."""

SATURATING = 2.0
"""A level this many times above the capacity shows how much the server can answer at most."""

DOWN = 16
"""If the first level misses, lower ones are measured, down to the first level divided by this."""

BEYOND = 1.05
"""If an end of the interval is open, a level this factor away from the estimate is measured."""

MAX_TRIES, MAX_SPOILED_TRIES = 2, 4
"""How often a level is tried that the generator could not manage, and one that the machine spoiled."""

MAX_BATCHES = 40

MIN_LEVELS, MIN_BLOCKS = 3, 10
"""An interval from fewer levels or blocks is not trusted to be narrow."""


@dataclass(frozen=True)
class SearchStep:
    """Levels to measure; none if the search is over."""

    levels: tuple[float, ...]
    """In the order in which they are measured."""

    why: str
    """For readers."""

    model: frozenset[float] = frozenset()
    """Those that serve the model."""

    held_out: frozenset[float] = frozenset()
    """Those of them that the model is judged at instead of fitted to."""


@dataclass(frozen=True)
class Search:
    """A search for the level at which the first SLO breaks."""

    slos: tuple[Slo, ...]
    start: float
    """The first level."""

    most: float
    """The highest level allowed."""

    whole: bool
    """Whether levels are whole numbers (clients)."""

    precision: float
    """Half the width of an interval that is narrow enough, as a share of the capacity."""

    seed: int
    model: bool = True
    """Whether levels for fitting and judging a model are measured too."""

    def next(self, blocks: Sequence[Block], batch: int) -> SearchStep:
        """The step after `batch` batches, which consisted of `blocks`. The last step has no levels."""
        levels = by_level(blocks, self.slos)
        if batch >= MAX_BATCHES:
            return SearchStep((), "enough batches were measured")
        if not levels:
            return SearchStep((self.rounded(self.start),), "the lowest level")
        top = self._bracketed(levels)
        if top is None:
            return self._higher(levels)
        return self._closer(levels, *top, batch)

    @property
    def _lowest(self) -> float:
        """The lowest level that the search goes down to."""
        return 1.0 if self.whole else self.start / DOWN

    def rounded(self, level: float) -> float:
        """The level as it is measured: rounded to three digits or to a whole number, never above `most`."""
        return min(float(max(1, round(level))) if self.whole else float(f"{level:.3g}"), self.most)

    def _bracketed(self, levels: Sequence[Level]) -> tuple[float, float] | None:
        """The highest level below the first one that misses, and that one; None as long as none misses."""
        misses = [level.level for level in levels if level.provisional_decision == "misses"]
        if not misses:
            return None
        # A single miss below levels that hold was caused by the machine: the crossing is above them.
        holds = [level.level for level in levels if level.decided == "holds"]
        above = [level for level in misses if level > max(holds, default=0.0)]
        if not above:
            return None
        high = min(above)
        return max((level.level for level in levels if level.level < high), default=high / 2), high

    def _higher(self, levels: Sequence[Level]) -> SearchStep:
        """Twice the highest level, unless the generator or the caller's limit has been reached."""
        top = levels[-1]
        if top.decided == "away":
            return SearchStep((), "the server is not there any more")
        if top.decided == "spoiled":
            if len(top.blocks) < MAX_SPOILED_TRIES:
                return SearchStep((top.level,), "once more: what was measured does not count")
            return SearchStep((), "the machine is busy with other work: nothing more can be measured now")
        if top.decided == "generator":
            if len(top.blocks) < MAX_TRIES:
                return SearchStep((top.level,), "once more: what was measured does not count")
            below = max(
                (level.level for level in levels if level.provisional_decision == "holds"), default=0.0
            )
            between = self.rounded(math.sqrt(below * top.level)) if below else top.level
            known = {level.level for level in levels}
            if between not in known and top.level / max(below, 1e-9) > 1.3:
                return SearchStep((between,), "between what holds and where the generator is the limit")
            return SearchStep((), "the generator is the limit")
        if top.level >= self.most:
            return SearchStep((), "no higher level is asked for")
        higher = 2 * top.level
        return SearchStep((self.rounded(higher) if higher < self.most else self.most,), DOUBLING)

    def _closer(self, levels: Sequence[Level], low: float, high: float, batch: int) -> SearchStep:
        if high <= self._lowest:
            return SearchStep((), "it misses at the lowest level")
        found = estimate_of(levels)
        wanted: list[float] = []
        if found is None or not _fine(levels, low, high):
            wanted += [low * (high / low) ** part for part in (0.0, 0.25, 0.5, 0.75)] + [high]
            why = f"between {low:g} and {high:g}"
        else:
            if self._narrow(found, levels):
                rest = self._for_the_model(levels, found.likeliest)
                return self._shuffled(levels, [], rest, "for the model", batch)
            wanted += self._around(found)
            why = f"about {found.likeliest:.3g}"
        rest = self._for_the_model(levels, found.likeliest) if found else {}
        return self._shuffled(levels, wanted, rest, why, batch, again=found is not None)

    def _around(self, found: Crossing) -> list[float]:
        """The ends of the interval and the estimate; levels further out if the interval is not bounded."""
        low, high = max(found.low, found.likeliest / REACH), min(found.high, found.likeliest * REACH)
        if not found.bounded:
            low, high = min(low, found.likeliest / BEYOND), max(high, found.likeliest * BEYOND)
        return [low, found.likeliest, high]

    def _for_the_model(self, levels: Sequence[Level], capacity: float) -> dict[float, bool]:
        """The levels for the model that were not measured yet, and whether each is held out."""
        if not self.model:
            return {}
        known = [level.level for level in levels]
        wanted = {self.rounded(share * capacity): share in HELD_OUT for share in (*FITTED, *HELD_OUT)}
        if max(known) < 0.8 * SATURATING * capacity:
            wanted[self.rounded(SATURATING * capacity)] = False
        return {a: out for a, out in wanted.items() if not any(max(a, k) / min(a, k) < APART for k in known)}

    def _narrow(self, found: Crossing, levels: Sequence[Level]) -> bool:
        near = [one for one in levels if found.likeliest / REACH <= one.level <= found.likeliest * REACH]
        if (
            not found.bounded
            or len(near) < MIN_LEVELS - 1
            or sum(len(one.counted) for one in near) < MIN_BLOCKS
        ):
            return False
        if self.whole and math.floor(found.low) == math.floor(found.high):
            return True
        return found.high - found.low <= 2 * self.precision * found.likeliest

    def _shuffled(
        self,
        levels: Sequence[Level],
        wanted: Sequence[float],
        rest: dict[float, bool],
        why: str,
        batch: int,
        *,
        again: bool = False,
    ) -> SearchStep:
        """A step with each level once, in random order; a level close to a measured one is replaced by it.
        `again`: measure `wanted` once more even if none of them is expected to tell anything new.
        """
        known = {level.level: level for level in levels}
        chosen: list[float] = []
        for level in map(self.rounded, sorted(wanted)):
            same = [k for k in known if max(k, level) / min(k, level) < CLOSE]
            at = min(same, key=lambda k: abs(math.log(k / level))) if same else level
            if at not in chosen:
                chosen.append(at)
        useful = [at for at in chosen if at not in known or self._still(known[at])]
        order = [*dict.fromkeys([*(useful or (chosen if again else [])), *sorted(rest)])]
        random.Random(f"{self.seed}/{batch}").shuffle(order)
        held_out = frozenset(level for level, out in rest.items() if out)
        return SearchStep(tuple(order), why, frozenset(rest), held_out)

    def _still(self, level: Level) -> bool:
        """Whether another block of this level may tell something new."""
        if level.decided in ("generator", "spoiled"):
            return len(level.blocks) < (MAX_TRIES if level.decided == "generator" else MAX_SPOILED_TRIES)
        return level.decided == "undecided" or len(level.counted) < 2


def _fine(levels: Sequence[Level], low: float, high: float) -> bool:
    """Whether enough levels between the two were measured, or the two are close together."""
    return sum(low < one.level < high for one in levels) >= 2 or high / low < 1.3


def found_by(levels: Sequence[Level]) -> list[Crossing | None]:
    """Where each SLO stops holding; None for one that holds, or breaks, everywhere."""
    return [crossing_of(levels, slo) for slo in range(len(levels[0].slos))] if levels else []


def decisive(found: Sequence[Crossing | None]) -> int | None:
    """The index of the SLO that breaks first; None if no crossing is known."""
    known = [(one.level, number) for number, one in enumerate(found) if one is not None]
    return min(known)[1] if known else None


def estimate_of(levels: Sequence[Level]) -> Crossing | None:
    """Where the first SLO breaks; None if that is not known, or if the generator reaches its limit first."""
    found = found_by(levels)
    number = decisive(found)
    crossing = None if number is None else found[number]
    return None if crossing is None or crossing.level >= first_limited(levels) else crossing
