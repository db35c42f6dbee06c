"""The histograms of one measure, folded as they are read: only sums and the figures of each are kept."""

import math
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from jostle.analysis.stats.sample import EMPTY, Bools, WeightedSample, from_histograms
from jostle.histogram import Histogram

__all__ = ["Folded", "SampleFigure", "Timelines", "fold", "timelines_by_request"]

SampleFigure = Callable[[WeightedSample], float | None]

Timelines = Mapping[str, list[float | None]]
"""By name of the figure, its value in each interval; None if the interval has none."""


@dataclass(frozen=True)
class Folded:
    """A measure over the whole trial and over parts of the time, and figures of each interval."""

    whole: WeightedSample
    parts: list[WeightedSample]
    figures: "Mapping[str, array[float]]"  # NaN: the interval has no such figure

    def figure(self, name: str) -> list[float | None]:
        return [None if math.isnan(value) else value for value in self.figures[name]]


def fold(
    histograms: Iterable[Histogram | None],
    parts: Sequence[Bools] = (),
    figures: Mapping[str, SampleFigure] = {},
) -> Folded:
    """One histogram for each interval; each of `parts` says which intervals belong to it."""
    whole, *sums = (Histogram() for _ in range(len(parts) + 1))
    columns = {name: array("d") for name in figures}
    for number, histogram in enumerate(histograms):
        if histogram is not None:
            whole.add(histogram)
            for belongs, into in zip(parts, sums, strict=True):
                if belongs[number]:
                    into.add(histogram)
        if figures:
            sample = EMPTY if histogram is None else from_histograms([histogram])
            for name, figure in figures.items():
                value = figure(sample)
                columns[name].append(math.nan if value is None else value)
    return Folded(from_histograms([whole]), [from_histograms([one]) for one in sums], columns)


def timelines_by_request(
    histograms: Iterable[tuple[int, int, Histogram]], intervals: int, figures: Mapping[str, SampleFigure]
) -> Mapping[int, Timelines]:
    """The figures of every request, as its histograms are read: each with its interval and request.

    Those of a request without any histogram are None throughout.
    """
    found = defaultdict[int, dict[str, list[float | None]]](
        lambda: {name: [None] * intervals for name in figures}
    )
    for interval, request, histogram in histograms:
        sample = from_histograms([histogram])
        for name, figure in figures.items():
            found[request][name][interval] = figure(sample)
    return found
