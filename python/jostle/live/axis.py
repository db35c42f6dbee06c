"""The fixed axis of heat maps, 24 bins a decade from 1 µs to 100 s: so they can be added and compared."""

from functools import cache

import numpy as np

from jostle.analysis.stats.sample import Ints, bounds
from jostle.histogram import SLOTS

__all__ = ["BINS", "PER_DECADE", "binned", "start_s"]

PER_DECADE, DECADES = 24, 8
BINS = PER_DECADE * DECADES


def start_s(place: int) -> float:
    """Where a bin begins, in seconds."""
    return float(10.0 ** (place / PER_DECADE - 6))


def binned(places: Ints, counts: Ints) -> Ints:
    """How many times lie in each bin, of those in these slots of a histogram; what lies beyond an end is in
    the last bin there."""
    return np.bincount(_bins()[places], weights=counts, minlength=BINS).astype(np.int64)


@cache
def _bins() -> Ints:
    """The bin of every slot."""
    low, high = bounds(np.arange(SLOTS))
    bins = np.floor(PER_DECADE * np.log10(np.maximum((low + high) / 2, 1.0))).astype(np.int64)
    return np.asarray(np.minimum(bins, BINS - 1))
