"""Intervals that also contain what a time would be without what the generator added to it."""

import math
from collections.abc import Sequence
from dataclasses import replace

from jostle.analysis.results import Estimate
from jostle.analysis.trials.data import TrialData
from jostle.analysis.validity import wake_up
from jostle.quantiles import NAMED

__all__ = ["without_the_generator"]

LEAST = 0.05
"""Less than this share of a figure is not worth an end of its own."""

NAMES = {p: name for name, p in NAMED.items()}


def without_the_generator(
    found: Estimate, trials: Sequence[TrialData], p: float, *, service: bool
) -> Estimate:
    """The p-quantile over these rounds, with an interval that reaches down to what is surely the server's.

    The generator's lateness is part of a response time, and its waking up may be part of any time: by how
    much at most is known of each round.
    """
    if found.value is None or found.low is None or not trials:
        return found
    left = [_left(data, f"service {NAMES[p]}" if service else NAMES[p]) for data in trials]
    if min(left) <= 0:
        return replace(found, low=0.0)
    share = math.exp(math.fsum(map(math.log, left)) / len(left))
    return replace(found, low=found.low * share) if share < 1 - LEAST else found


def _left(data: TrialData, name: str) -> float:
    """The share of a round's figure that is left without what the generator may have added."""
    effect = data.lateness.get(name)
    polling = wake_up.shares_of_wake_up(data).get(name, 0.0)
    return (1 - (effect.share if effect else 0.0)) * (1 - (polling if polling > wake_up.SUSPECT else 0.0))
