"""Intervals that also contain what a figure would be without what the generator or others did to it."""

import math
from collections.abc import Sequence
from dataclasses import replace

from jostle.analysis.results import Estimate
from jostle.analysis.stats.sample import WeightedSample
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.lateness import Effect
from jostle.analysis.validity import generator_core, lost_time, machine, wake_up
from jostle.analysis.validity.bounded import left_of_time, left_of_times

__all__ = [
    "left_of",
    "left_without",
    "left_without_others",
    "share_lost",
    "undisturbed",
    "without_disturbance",
]

MIN_SHARE_LOST = 0.05
"""Less than this share of a figure is not worth an end of its own."""


def without_disturbance(found: Estimate, left: Sequence[float]) -> Estimate:
    """A time over rounds, with an interval that reaches down to what is surely the server's.

    `left`: the share of each round's figure that is left without what others may have added.
    """
    if found.value is None or found.low is None or not left:
        return found
    share = _over_rounds(left)
    return replace(found, low=found.low * share) if share < 1 - MIN_SHARE_LOST else found


def undisturbed(metric: str, found: Estimate, trials: Sequence[TrialData]) -> Estimate:
    """A figure other than a quantile, with an interval that also holds what it would be."""
    match metric:
        case "throughput":
            share = _over_rounds([1 - share_lost(data) for data in trials])
            if found.high is None or share >= 1 - MIN_SHARE_LOST:
                return found
            return replace(found, high=found.high / share)
        case "mean" | "time to headers":
            return without_disturbance(found, [left_of(data, metric) for data in trials])
    return found


def left_of(data: TrialData, name: str) -> float:
    """The share of a trial's figure that is left. `name`: "p99", "service p99", "mean", "time to headers".

    The generator's lateness is part of a response time, and its waking up may be part of any time: by how
    much at most is known of each round. So it is of a closed loop beside other programs.
    """
    waking_up = wake_up.shares_of_wake_up(data).get(name, 0.0)
    level = name.removeprefix("service ")
    sample = data.response if level == name else data.service
    return left_without(data.lateness.get(name), waking_up) * left_without_others(data, level, sample)


def left_without(late: Effect | None, waking_up: float) -> float:
    """The share that is left of a time without the effect of lateness, and without the share of waking up."""
    return (1 - (late.share if late else 0.0)) * (
        1 - (waking_up if waking_up > wake_up.SUSPECT_ABOVE else 0.0)
    )


def share_lost(data: TrialData) -> float:
    """The share of a closed loop's time that others or a standstill took, where that is bounded; else 0."""
    return 1 - (1 - _share_of_others(data)) * (1 - lost_time.share_in_intervals(data))


def _share_of_others(data: TrialData) -> float:
    return 1 - (1 - machine.share_in_intervals(data)) * (1 - generator_core.share_in_intervals(data))


def left_without_others(data: TrialData, level: str, sample: WeightedSample) -> float:
    """The share that is left of a quantile, or of the mean, of some of a trial's times.

    A standstill only reaches the requests that were in flight, and so the mean, but no quantile that is not
    in doubt.
    """
    share = share_lost(data) if level == "mean" else _share_of_others(data)
    return left_of_time(sample, level, left_of_times(data, share)) if share else 1.0


def _over_rounds(left: Sequence[float]) -> float:
    """The geometric mean, as of figures over rounds; 1 of no rounds."""
    if not left or min(left) <= 0:
        return 0.0 if left else 1.0
    return math.exp(math.fsum(map(math.log, left)) / len(left))
