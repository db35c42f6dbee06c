"""What is left to others while a background request runs, within one trial on one started server."""

from collections.abc import Sequence

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats.enough import LEAST_ROUNDS, TOO_FEW_ROUNDS
from jostle.analysis.stats.over_rounds import half_width, typical_over_rounds
from jostle.analysis.trial.data import TrialData

__all__ = ["share_left", "throughput_left"]

HARDLY_ANY = 0.1
"""Share of the throughput up to which hardly any is left."""

FINEST = 0.01
"""What is left is not told to less than this where it is hardly anything."""


def throughput_left(data: TrialData) -> float | None:
    """Successes per second while a background request runs, in those of the intervals without one.

    0: nothing is served meanwhile; 1: it makes no difference. None where intervals of one kind
    are missing. It does not depend on how long the background request takes.
    """
    if not data.has_background:
        return None
    running_ns = data.counts.background_in_flight_ns
    filled = data.filled
    free = np.asarray(running_ns == 0)
    if not filled.any() or not data.counts.ok[free].any():
        return None
    beside, without = (data.counts.ok[there].sum() / data.lengths_s[there].sum() for there in (filled, free))
    return float(beside / without)


def share_left(values: Sequence[float], unit: str, confidence: float) -> Estimate:
    """What is left of a throughput, one share per round, of a typical start.

    Shares are compared by logarithms, unless nearly nothing is left in any round: a logarithm near 0
    differs by much where the share itself hardly does.
    """
    n = len(values)
    if not n or max(values) > HARDLY_ANY:
        return typical_over_rounds(values, unit, confidence)
    mean, rounds = float(np.mean(values)), tuple(map(float, values))
    if n < LEAST_ROUNDS:
        return Estimate(mean, unit=unit, n=n, note=TOO_FEW_ROUNDS, rounds=rounds)
    half = max(half_width(values, 0.0, confidence), FINEST)
    return Estimate(mean, max(0.0, mean - half), mean + half, unit, n=n, rounds=rounds)
