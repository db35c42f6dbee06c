"""Where independent values, as those of runs over weeks, change their level.

Of all places at which a series may be divided, the surest is taken, if its p, times the number of places, is
at most `LEVEL`; then both parts are looked at likewise (binary segmentation). What is sure is judged twice:
by t with the variance within both parts, and by t with a variance from differences of neighbours, which hides
no level that lasts for a while in the middle. A series that does not change is divided in at most 1 %
(Bonferroni; simulated for 5 to 40 normal values).

Source: Sen and Srivastava, Annals of Statistics 3 (1975); Worsley, JASA 74 (1979).
"""

import math
from collections.abc import Iterator

import numpy as np

from jostle.analysis.stats import student
from jostle.analysis.stats.moderated import RESOLUTION
from jostle.analysis.stats.sample import Floats

__all__ = ["level_shifts"]

LEVEL = 0.01

MIN_PART = 2
"""A single value is no level."""

EFFICIENCY = 0.37
"""Degrees of freedom that each difference of neighbours gives to the median of their absolute values."""


def level_shifts(series: Floats) -> list[int]:
    """The first index of each level but the first."""
    if len(series) < 2 * MIN_PART:
        return []
    differences = np.abs(np.diff(series))
    of_neighbours = max(float(np.median(differences)) / (0.6745 * math.sqrt(2)), RESOLUTION)
    return sorted(_within(series, 0, of_neighbours, EFFICIENCY * len(differences)))


def _within(series: Floats, start: int, of_neighbours: float, df: float) -> Iterator[int]:
    """The places in a part that begins at `start`. `of_neighbours`: the deviation, with `df` degrees of
    freedom."""
    places = range(MIN_PART, len(series) - MIN_PART + 1)
    if not places:
        return
    p, place = min((_p(series[:place], series[place:], of_neighbours, df), place) for place in places)
    if p * len(places) > LEVEL:
        return
    yield start + place
    yield from _within(series[:place], start, of_neighbours, df)
    yield from _within(series[place:], start + place, of_neighbours, df)


def _p(a: Floats, b: Floats, of_neighbours: float, df: float) -> float:
    """Of a difference of the means; the smaller of both p, doubled, as there are two."""
    n = len(a) + len(b)
    squares = float(np.sum((a - a.mean()) ** 2) + np.sum((b - b.mean()) ** 2))
    sd = max(math.sqrt(squares / (n - 2)), RESOLUTION)
    apart = abs(float(b.mean() - a.mean())) / math.sqrt(1 / len(a) + 1 / len(b))
    return 4 * min(student.cdf(n - 2, -apart / sd), student.cdf(df, -apart / of_neighbours))
