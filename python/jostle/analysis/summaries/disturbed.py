"""Intervals that also contain what a time would be without what the generator added to it."""

import math
from collections.abc import Sequence
from dataclasses import replace

from jostle.analysis.results import Estimate
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.lateness import Effect
from jostle.analysis.validity import wake_up

__all__ = ["left_of", "left_without", "without_the_generator"]

LEAST = 0.05
"""Less than this share of a figure is not worth an end of its own."""


def without_the_generator(found: Estimate, left: Sequence[float]) -> Estimate:
    """A quantile over rounds, with an interval that reaches down to what is surely the server's.

    `left`: the share of each round's figure that is left without what the generator may have added.
    """
    if found.value is None or found.low is None or not left:
        return found
    if min(left) <= 0:
        return replace(found, low=0.0)
    share = math.exp(math.fsum(map(math.log, left)) / len(left))
    return replace(found, low=found.low * share) if share < 1 - LEAST else found


def left_of(data: TrialData, name: str) -> float:
    """The share of a trial's figure that is left. `name`: "p99", "service p99".

    The generator's lateness is part of a response time, and its waking up may be part of any time: by how
    much at most is known of each round.
    """
    return left_without(data.lateness.get(name), wake_up.shares_of_wake_up(data).get(name, 0.0))


def left_without(late: Effect | None, waking_up: float) -> float:
    """The share that is left of a time without the effect of lateness, and without the share of waking up."""
    return (1 - (late.share if late else 0.0)) * (1 - (waking_up if waking_up > wake_up.SUSPECT else 0.0))
