"""The throughput left to others while a background request runs, within one trial on one started server."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats.indices import share_left
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.trials.data import TrialData

__all__ = ["left_over_rounds", "throughput_left"]


def left_over_rounds(trials: Sequence[TrialData], confidence: float = CONFIDENCE) -> Estimate:
    """The share of the throughput that is left at a typical start, from the rounds that show it.

    No value unless more than half of the rounds do. Whether a round does depends on how long its background
    request took, and not on what is left.
    """
    values = [value for data in trials if (value := throughput_left(data)) is not None]
    without = _why_not(trials)
    if not values or 2 * len(values) <= len(trials):
        return Estimate(None, unit="ratio", n=len(trials), note=without or "nothing was measured")
    found = share_left(values, "ratio", confidence)
    return replace(found, note=found.note or without) if without else found


def _why_not(trials: Sequence[TrialData]) -> str:
    """The commonest reason why trials have no value: "in 7 of 8 rounds nothing …"; "" if all have one."""
    reasons = Counter(_missing(data) for data in trials if throughput_left(data) is None)
    if not reasons:
        return ""
    (reason, count), *_ = reasons.most_common(1)
    return f"in {count} of {len(trials)} rounds {reason}"


def _missing(data: TrialData) -> str:
    if not data.has_background:
        return "no background request ran"
    if not data.filled.any():
        return "the background request was shorter than an interval of the record"
    return "nothing succeeded while no background request ran, so there is nothing to compare with"


def throughput_left(data: TrialData) -> float | None:
    """Successes per second while a background request runs, divided by those in intervals without one.

    0: nothing is served meanwhile; 1: it makes no difference. None if intervals of either kind are missing,
    or if nothing succeeds without one. It does not depend on how long the background request takes.
    """
    if not data.has_background:
        return None
    running_ns = data.counts.background_in_flight_ns
    filled = data.filled
    free = np.asarray(running_ns == 0)
    if not filled.any() or not data.counts.ok[free].any():
        return None
    beside, without = (data.counts.ok[mask].sum() / data.lengths_s[mask].sum() for mask in (filled, free))
    return float(beside / without)
