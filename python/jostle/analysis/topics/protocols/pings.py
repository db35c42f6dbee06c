"""Pings over WebSockets: how long a server takes to answer one, apart from its messages."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jostle.analysis.results import PingResult
from jostle.analysis.stats.over_rounds import quantiles_over_rounds
from jostle.analysis.stats.sample import WeightedSample, from_histograms
from jostle.analysis.trials.data import MEASURED, TrialData

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["ping_times", "pings"]


def pings(grouped: "Mapping[Key, Sequence[TrialData]]") -> list[PingResult]:
    """One result for each cell whose clients sent pings."""
    found = []
    for (contestant, workload), trials in grouped.items():
        measured = [data for data in trials if data.usable and data.counts.pings.get(MEASURED)]
        times = [sample for data in measured if (sample := ping_times(data)) is not None]
        if measured:
            found.append(
                PingResult(
                    contestant=contestant,
                    workload=workload,
                    sent=sum(data.counts.pings[MEASURED]["sent"] for data in measured),
                    answered=sum(sample.only_events().n for sample in times),
                    unanswered=sum(data.counts.pings[MEASURED]["unanswered"] for data in measured),
                    round_trip=quantiles_over_rounds(times),
                )
            )
    return found


def ping_times(data: TrialData) -> WeightedSample | None:
    """Times from when each ping was due to its pong; those that were given up lie beyond every time.

    None if no pings were sent.
    """
    counted = data.counts.pings.get(MEASURED)
    if counted is None:
        return None
    times = from_histograms([data.trial.histogram("ping", MEASURED)])
    return replace(times, never=counted["unanswered"])
