"""The fixed axis of heat maps, 24 bins a decade from 1 µs to 100 s: so they can be added and compared."""

import numpy as np

from jostle.analysis.stats.sample import Ints, slots
from jostle.histogram import Histogram

__all__ = ["BINS", "PER_DECADE", "binned", "start_s"]

PER_DECADE, DECADES = 24, 8
BINS = PER_DECADE * DECADES


def start_s(place: int) -> float:
    """Where a bin begins, in seconds."""
    return float(10.0 ** (place / PER_DECADE - 6))


def binned(histogram: Histogram) -> Ints:
    """How many of its times (µs) lie in each bin; what lies beyond an end is in the last bin there."""
    low, high, counts = slots(histogram)
    places = np.floor(PER_DECADE * np.log10(np.maximum((low + high) / 2, 1.0))).astype(np.int64)
    return np.bincount(np.minimum(places, BINS - 1), weights=counts, minlength=BINS).astype(np.int64)
