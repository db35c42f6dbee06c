"""Whether what was called good was good, and what was thrown away was not."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jostle.analysis.stats.student import quantile
from jostle.record.verdict import Verdict
from truth.verdict.judged import Figure, Said
from truth.verdict.situations import Situation

__all__ = ["SORTS", "Run", "Sort", "Sorted", "sorted_figures"]

Sort = Literal["good, called good", "good, thrown away", "wrong, called good", "wrong, thrown away"]
SORTS: tuple[Sort, ...] = (
    "good, called good",
    "good, thrown away",
    "wrong, called good",
    "wrong, thrown away",
)
MIN_RUNS = 2
"""With fewer runs nothing is known of the truth."""


@dataclass(frozen=True)
class Run:
    """A run of a situation, by its place among all runs, and what it says."""

    situation: Situation
    place: int
    said: Said
    stolen: float


@dataclass(frozen=True)
class Sorted:
    """A figure, the interval in which the truth lies, and what became of it. `strict`: the same if the mean
    of the undisturbed runs is taken for the truth, and not where one of them may lie.
    """

    figure: Figure
    truth: tuple[float, float]
    sort: Sort
    strict: Sort


def sorted_figures(run: Run, runs: Sequence[Run]) -> list[Sorted]:
    """The figures of a run that have an interval and a known truth."""
    if run.situation.truth == "none":
        return []
    others = [other for other in runs if other.place != run.place and _is_true_of(other, run)]
    found = []
    for figure in run.said.figures:
        true = [
            f for o in others for f in o.said.figures if (f.cell, f.metric) == (figure.cell, figure.metric)
        ]
        mean, single = _truth(true, of_mean=True), _truth(true, of_mean=False)
        if mean is None or single is None:
            continue
        strictly, wrong = _wrong(figure, mean), _wrong(figure, single)
        if strictly is not None and wrong is not None:
            found.append(Sorted(figure, single, _sort(figure, wrong=wrong), _sort(figure, wrong=strictly)))
    return found


def _is_true_of(other: Run, run: Run) -> bool:
    if run.situation.truth == "itself":
        return other.situation == run.situation
    return other.situation.undisturbed and other.situation.load == run.situation.load


def _truth(figures: Sequence[Figure], *, of_mean: bool) -> tuple[float, float] | None:
    """An interval of 95 %, as the truth is measured, too: of the mean of the runs, or of one more of them,
    since the machine is not the same one in each minute. Bounds say that it is beyond.
    """
    if len(figures) < MIN_RUNS:
        return None
    if sum(bool(f.bound) for f in figures) > len(figures) / 2:
        return max(f.value for f in figures), math.inf
    values = np.array([f.value for f in figures if not f.bound])
    if len(values) < MIN_RUNS:
        return None
    logs = bool(values.min() > 0)
    scale = np.log(values) if logs else values
    half = float(quantile(len(values) - 1, 0.975)) * float(scale.std(ddof=1))
    half *= math.sqrt(1 / len(values) + (0 if of_mean else 1))
    low, high = float(scale.mean()) - half, float(scale.mean()) + half
    return (math.exp(low), math.exp(high)) if logs else (low, high)


def _wrong(figure: Figure, truth: tuple[float, float]) -> bool | None:
    """Whether the truth lies outside of the interval by more than its width; None if there is no interval."""
    if figure.low is None or (figure.high is None and not figure.bound):
        return None
    if figure.high is None:
        return truth[1] < figure.low
    width = figure.high - figure.low
    return truth[1] < figure.low - width or truth[0] > figure.high + width


def _sort(figure: Figure, *, wrong: bool) -> Sort:
    if figure.verdict is Verdict.VALID:
        return "wrong, called good" if wrong else "good, called good"
    return "wrong, thrown away" if wrong else "good, thrown away"
