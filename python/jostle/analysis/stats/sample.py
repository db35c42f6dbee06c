"""Samples of recorded times: distinct values with counts, some of them right-censored.

A HdrHistogram slot holds all times between two bounds. As in HdrHistogram itself, quantiles are a slot's
highest equivalent value and means use its middle; both are within 0.1 % at three digits.
Source: HdrHistogram, `getValueAtPercentile` and `getMean`.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from jostle.histogram import SLOTS, Histogram

__all__ = [
    "EMPTY",
    "Bools",
    "Floats",
    "Ints",
    "WeightedSample",
    "bounds",
    "cut_off",
    "from_histograms",
    "from_values",
    "pool",
    "pool_by_key",
    "quantile_of",
    "slots",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class WeightedSample:
    """Times with counts, as arrays of equal length; `values_s` is ascending and distinct.

    `events[i]` times ended at `values_s[i]`; `censored[i]` were given up there and are longer than that.
    `never` counts the requests that failed and will never have a time: they lie beyond all others.
    """

    values_s: Floats
    middles_s: Floats
    events: Ints
    censored: Ints
    never: int = 0

    @cached_property
    def n(self) -> int:
        """Number of all times, including those that were given up or failed."""
        return self.n_events + self.n_censored

    @cached_property
    def n_events(self) -> int:
        return int(self.events.sum())

    @cached_property
    def n_censored(self) -> int:
        """Number of those without a time of their own: given up or failed."""
        return int(self.censored.sum()) + self.never

    @property
    def mean_s(self) -> float | None:
        """Mean of the events; None if there are none."""
        return float(self.middles_s @ self.events) / self.n_events if self.n_events else None

    @property
    def deviation_s(self) -> float | None:
        """Standard deviation of the events; None if there are fewer than two."""
        mean = self.mean_s
        if mean is None or self.n_events < 2:
            return None
        return math.sqrt(float((self.middles_s - mean) ** 2 @ self.events) / (self.n_events - 1))

    @property
    def total_s(self) -> float:
        """Sum of all times; censored ones count up to the time at which they were given up."""
        return float(self.middles_s @ (self.events + self.censored))

    def as_censored(self) -> "WeightedSample":
        """The sample with its events as requests that were given up."""
        return replace(self, events=self.censored, censored=self.events)

    def only_events(self) -> "WeightedSample":
        """The sample without requests that were given up or failed."""
        kept = self.events > 0
        zeros = np.zeros(int(kept.sum()), dtype=np.int64)
        return WeightedSample(self.values_s[kept], self.middles_s[kept], self.events[kept], zeros)


AT_ONCE = 200_000
"""How many distinct values `pool` collects before it merges them."""

HALF = 1 << 10
"""Half of the slots of the first bucket, and all of every further one, which is twice as wide."""

FEW = 8
"""How many samples of each key `pool_by_key` collects before it merges them."""

_NO_TIMES = np.zeros(0)
_NO_COUNTS = np.zeros(0, dtype=np.int64)
EMPTY = WeightedSample(_NO_TIMES, _NO_TIMES, _NO_COUNTS, _NO_COUNTS)


def from_values(seconds: Sequence[float], censored: Sequence[float] = (), never: int = 0) -> WeightedSample:
    """A sample of exact times."""
    values = np.array([*seconds, *censored], dtype=float)
    gone = np.repeat([0, 1], [len(seconds), len(censored)])
    return replace(_merged(values, values, 1 - gone, gone), never=never)


def from_histograms(events: Iterable[Histogram], censored: Iterable[Histogram] = ()) -> WeightedSample:
    """A sample from histograms."""
    return pool(chain((_one(h, False) for h in events), (_one(h, True) for h in censored)))


def cut_off(sample: WeightedSample) -> WeightedSample:
    """The sample with its censored requests as the slowest of all, as in an overload cut off by the stop.

    They lie beyond every time that was seen. Only the longest wait stays: it is all that is known about them.
    """
    if not sample.censored.any():
        return sample
    longest = np.zeros_like(sample.censored)
    longest[np.flatnonzero(sample.censored)[-1]] = 1
    return replace(sample, censored=longest, never=sample.never + int(sample.censored.sum()) - 1)


def pool(samples: Iterable[WeightedSample]) -> WeightedSample:
    """All samples merged into one, as they arrive, so that thousands need no more memory than a few."""
    whole, waiting, room = EMPTY, list[WeightedSample](), AT_ONCE
    for sample in samples:
        waiting.append(sample)
        room -= len(sample.values_s)
        if room < 0:
            whole, waiting, room = _pooled([whole, *waiting]), [], AT_ONCE
    return _pooled([whole, *waiting])


def pool_by_key(samples: Iterable[tuple[int, WeightedSample]]) -> dict[int, WeightedSample]:
    """The samples of each key merged into one, as they arrive: only distinct times take memory."""
    waiting = defaultdict[int, list[WeightedSample]](list)
    for key, sample in samples:
        waiting[key].append(sample)
        if len(waiting[key]) == FEW:
            waiting[key] = [_pooled(waiting[key])]
    return {key: _pooled(collected) for key, collected in waiting.items()}


def _pooled(samples: Sequence[WeightedSample]) -> WeightedSample:
    samples = [s for s in samples if s.n]
    if not samples:
        return EMPTY
    if len(samples) == 1:
        return samples[0]
    columns = (
        np.concatenate([getattr(s, name) for s in samples])
        for name in ("values_s", "middles_s", "events", "censored")
    )
    return replace(_merged(*columns), never=sum(s.never for s in samples))


def quantile_of(sample: WeightedSample, p: float) -> float | None:
    """The `p`-quantile of a sample without censored times, as a plain figure; None if it is empty."""
    if sample.n == 0:
        return None
    rank = sample.events.cumsum().searchsorted(p * sample.n - 1e-9)
    return float(sample.values_s[rank])


def slots(histogram: Histogram) -> tuple[Ints, Ints, Ints]:
    """Lowest and highest equivalent value (µs) and count of each slot that is not empty."""
    used = np.flatnonzero(histogram.counts)
    return *bounds(used), histogram.counts[used]


def bounds(places: Ints) -> tuple[Ints, Ints]:
    """Lowest and highest equivalent value (µs) of the slots at these places."""
    low, size = _slot_bounds()
    return low[places], low[places] + size[places] - 1


@cache
def _slot_bounds() -> tuple[Ints, Ints]:
    """Lowest value and width of every slot. Source: HdrHistogram's `valueFromIndex`."""
    index = np.arange(SLOTS, dtype=np.int64)
    bucket = index // HALF - 1
    sub_bucket = np.where(bucket < 0, index, index % HALF + HALF)
    shift = np.maximum(bucket, 0)
    return np.asarray(sub_bucket << shift, np.int64), np.asarray(np.int64(1) << shift, np.int64)


def _one(histogram: Histogram, censored: bool) -> WeightedSample:
    low, high, counts = slots(histogram)
    zeros = np.zeros_like(counts)
    middles = (low + (high - low + 1) // 2) / 1e6
    return WeightedSample(high / 1e6, middles, zeros if censored else counts, counts if censored else zeros)


def _merged(values: Floats, middles: Floats, events: Ints, censored: Ints) -> WeightedSample:
    distinct, first, where = np.unique(values, return_index=True, return_inverse=True)
    summed = [
        np.bincount(where, weights=c, minlength=len(distinct)).astype(np.int64) for c in (events, censored)
    ]
    return WeightedSample(distinct, middles[first], summed[0], summed[1])
