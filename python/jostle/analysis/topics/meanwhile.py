"""What is left to others while a background request runs, within one trial on one started server."""

import numpy as np

from jostle.analysis.trial.data import TrialData

__all__ = ["throughput_left"]


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
