"""Streams of events: the times of their events, which a response time does not show."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jostle.analysis.results import Estimate, EventTimes, StreamResult
from jostle.analysis.stats.over_rounds import (
    RoundValue,
    mean_over_rounds,
    quantiles_over_rounds,
    round_quantile,
)
from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.one_stream import OneStream, streams_of

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["longest_gap", "message_round_trips", "streams", "streams_in_time", "streams_late"]


def streams(grouped: "Mapping[Key, Sequence[TrialData]]") -> list[StreamResult]:
    """One result for each request of each cell that asks for a stream and was sent."""
    found = []
    for (contestant, workload), trials in grouped.items():
        measured = [data for data in trials if data.usable]
        for one in streams_of(measured[0]) if measured else ():
            rounds = [OneStream(data, one.index) for data in measured]
            if any(each.requests for each in rounds):
                found.append(_stream(contestant, workload, rounds))
    return found


def streams_late(data: TrialData) -> tuple[int, int]:
    """Streams with bounds that ended by themselves: the number that did not keep them, and of all."""
    bounded = [one for one in streams_of(data) if one.spec["bounds"] is not None]
    ended = sum(one.ended for one in bounded)
    return ended - sum(one.counts.get("met", 0) for one in bounded), ended


def streams_in_time(data: TrialData) -> float | None:
    """The share of streams with bounds that kept them; None if there are no such streams."""
    late, ended = streams_late(data)
    return 1 - late / ended if ended else None


def longest_gap(data: TrialData) -> RoundValue:
    """The median of the longest gaps of a trial's streams (s); the gap of a broken-off stream has no end."""
    gaps = [one.longest_gap for one in streams_of(data)]
    return round_quantile(pool(gaps), 0.5) if gaps else None


def message_round_trips(data: TrialData) -> WeightedSample | None:
    """Round trips of the messages that clients send periodically; None if they send none."""
    found = [one.round_trip for one in streams_of(data) if one.paced]
    return pool(found) if found else None


def _stream(contestant: str, workload: str, rounds: Sequence[OneStream]) -> StreamResult:
    counts: Counter[str] = Counter()
    for one in rounds:
        counts.update(one.counts)
    spec, paced = rounds[0].spec, rounds[0].paced
    counted, bounded = spec["usage"] is not None, spec["bounds"] is not None
    return StreamResult(
        contestant=contestant,
        workload=workload,
        request=rounds[0].name,
        events=counts["events"],
        whole=counts["whole"],
        broken_off=counts["broken_off"],
        none=sum(one.none for one in rounds),
        unfinished=counts["unfinished"] + sum(one.stopped_before for one in rounds),
        events_per_s=_per_s(rounds, "events"),
        met=counts["met"] if bounded else None,
        met_per_s=_per_s(rounds, "met") if bounded else None,
        tokens_per_s=_per_s(rounds, "tokens") if counted else None,
        without_tokens=counts.get("without_tokens") if counted else None,
        per_token=quantiles_over_rounds([one.recorded("event_per_token") for one in rounds])
        if counted
        else {},
        first=quantiles_over_rounds([one.first for one in rounds]),
        gap=quantiles_over_rounds([one.gap for one in rounds]),
        longest_gap=quantiles_over_rounds([one.longest_gap for one in rounds]),
        last=quantiles_over_rounds([one.data.times_of("event_last", one.index) for one in rounds]),
        round_trip=quantiles_over_rounds([one.round_trip for one in rounds]) if paced else {},
        unanswered=counts["unanswered"] if paced else None,
        over_time=_over_time(rounds),
    )


def _over_time(rounds: Sequence[OneStream]) -> EventTimes:
    ordered = sorted(rounds, key=lambda one: one.counts.get("events", 0))
    one = ordered[len(ordered) // 2]
    data = one.data
    first, gap, trip = (data.figures_of(f"event_{of}", one.index) for of in ("first", "gap", "round_trip"))
    return EventTimes(
        trial=data.trial.number,
        t_s=data.middles_s.tolist(),
        first_p50_s=first["p50"],
        first_p99_s=first["p99"],
        first_max_s=first["max"],
        gap_p50_s=gap["p50"],
        gap_p99_s=gap["p99"],
        gap_max_s=gap["max"],
        round_trip_p50_s=trip["p50"],
        round_trip_p99_s=trip["p99"],
        round_trip_max_s=trip["max"],
    )


def _per_s(rounds: Sequence[OneStream], what: str) -> Estimate:
    return mean_over_rounds([one.per_s(what) for one in rounds], "/s")
