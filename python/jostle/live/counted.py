"""Histograms without their empty slots: what hundreds of intervals can be kept as, and a page can be sent."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.sample import Ints, bounds
from jostle.histogram import Histogram

__all__ = ["Counted"]


@dataclass(frozen=True, eq=False)
class Counted:
    """How many times lie in each slot of a histogram that is not empty."""

    places: Ints
    """Of the slots, ascending."""
    counts: Ints

    @classmethod
    def of(cls, histogram: Histogram | None) -> "Counted":
        """`histogram`: None for nothing."""
        counts = np.zeros(0, dtype=np.int64) if histogram is None else histogram.counts
        places = np.flatnonzero(counts)
        return cls(places, counts[places])

    @property
    def total(self) -> int:
        """The number of times."""
        return int(self.counts.sum())

    def plus(self, other: "Counted") -> "Counted":
        """Both together."""
        if not len(self.places) or not len(other.places):
            return self if len(self.places) else other
        places, where = np.unique(np.concatenate((self.places, other.places)), return_inverse=True)
        counts = np.zeros(len(places), dtype=np.int64)
        np.add.at(counts, where, np.concatenate((self.counts, other.counts)))
        return Counted(places, counts)

    def quantile(self, p: float) -> float | None:
        """The time (s) that a share `p` of them do not exceed, as `quantile_of`; None for nothing."""
        if not len(self.places):
            return None
        rank = self.counts.cumsum().searchsorted(p * self.total - 1e-9)
        _, highest = bounds(self.places[rank : rank + 1])
        return float(highest[0]) / 1e6

    def pairs(self) -> Sequence[int]:
        """Of each slot how many places it is from the one before, or from -1, and its count, in turn."""
        steps = np.diff(self.places, prepend=-1)
        found: list[int] = np.column_stack((steps, self.counts)).ravel().tolist()
        return found
