"""The histograms of one measure, folded as they are read: only sums and the figures of each are kept."""

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jostle.analysis.stats.sample import EMPTY, Bools, WeightedSample, from_histograms
from jostle.record.hlog import empty_histogram, merge

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

__all__ = ["Figure", "Folded", "fold"]

Figure = Callable[[WeightedSample], float | None]


@dataclass(frozen=True)
class Folded:
    """A measure over the whole trial and over parts of the time, and figures of each interval."""

    whole: WeightedSample
    parts: list[WeightedSample]
    figures: "Mapping[str, array[float]]"  # NaN: the interval has no such figure

    def figure(self, name: str) -> list[float | None]:
        return [None if math.isnan(value) else value for value in self.figures[name]]


def fold(
    histograms: "Iterable[HdrHistogram | None]",
    parts: Sequence[Bools] = (),
    figures: Mapping[str, Figure] = {},
) -> Folded:
    """One histogram for each interval; each of `parts` says which intervals belong to it."""
    whole, *sums = (empty_histogram() for _ in range(len(parts) + 1))
    columns = {name: array("d") for name in figures}
    for number, histogram in enumerate(histograms):
        if histogram is not None:
            merge(whole, histogram)
            for belongs, into in zip(parts, sums, strict=True):
                if belongs[number]:
                    merge(into, histogram)
        if figures:
            sample = EMPTY if histogram is None else from_histograms([histogram])
            for name, figure in figures.items():
                value = figure(sample)
                columns[name].append(math.nan if value is None else value)
    return Folded(from_histograms([whole]), [from_histograms([one]) for one in sums], columns)
