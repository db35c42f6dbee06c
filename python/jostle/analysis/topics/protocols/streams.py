"""Streams of events: the times of their events, which a response time does not show."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.analysis.results import Estimate, EventTimes, StreamResult
from jostle.analysis.stats.over_rounds import (
    RoundValue,
    mean_over_rounds,
    quantiles_over_rounds,
    round_quantile,
)
from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.analysis.trials.data import MEASURED, TrialData
from jostle.record.outcomes import ENDED_BY_STOP

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["longest_gap", "message_round_trips", "streams", "streams_in_time", "streams_late"]


def streams(grouped: "Mapping[Key, Sequence[TrialData]]") -> list[StreamResult]:
    """One result for each request of each cell that asks for a stream and was sent."""
    found = []
    for (contestant, workload), trials in grouped.items():
        measured = [data for data in trials if data.usable]
        requests = measured[0].workload()["requests"] if measured else []
        found += [
            _stream(contestant, workload, number, spec, measured)
            for number, spec in enumerate(requests)
            if spec.get("stream") is not None and any(data.outcomes(MEASURED, number) for data in measured)
        ]
    return found


def streams_late(data: TrialData) -> tuple[int, int]:
    """Streams with bounds that ended by themselves: the number that did not keep them, and of all."""
    bounded = [n for n, spec in _streams_of(data) if spec["bounds"] is not None]
    ended = sum(
        sum(data.outcomes(MEASURED, n).values())
        - _counts(data, n).get("unfinished", 0)
        - _stopped_before(data, n)
        for n in bounded
    )
    return ended - sum(_counts(data, n).get("met", 0) for n in bounded), ended


def streams_in_time(data: TrialData) -> float | None:
    """The share of streams with bounds that kept them; None if there are no such streams."""
    late, ended = streams_late(data)
    return 1 - late / ended if ended else None


def longest_gap(data: TrialData) -> RoundValue:
    """The median of the longest gaps of a trial's streams (s); the gap of a broken-off stream has no end."""
    gaps = [_broken(data, "event_longest_gap", n) for n, _ in _streams_of(data)]
    return round_quantile(pool(gaps), 0.5) if gaps else None


def message_round_trips(data: TrialData) -> WeightedSample | None:
    """Round trips of the messages that clients send periodically; None if they send none."""
    requests = enumerate(data.workload().get("requests") or [])
    found = [_round_trips(data, number) for number, spec in requests if _is_paced(spec)]
    return pool(found) if found else None


def _is_paced(spec: Mapping[str, Any]) -> bool:
    """Whether its messages are sent periodically, each of them answered by one."""
    return spec.get("stream") is not None and (spec.get("grpc") or {}).get("every_ns") is not None


def _streams_of(data: TrialData) -> list[tuple[int, Mapping[str, Any]]]:
    """The requests of a trial that ask for a stream, by number."""
    requests = enumerate(data.workload().get("requests") or [])
    return [(number, spec["stream"]) for number, spec in requests if spec.get("stream") is not None]


def _stream(
    contestant: str, workload: str, number: int, spec: Mapping[str, Any], trials: Sequence[TrialData]
) -> StreamResult:
    counts: Counter[str] = Counter()
    for data in trials:
        counts.update(_counts(data, number))
    stopped = sum(_stopped_before(data, number) for data in trials)
    paced = _is_paced(spec)
    counted = spec["stream"]["usage"] is not None
    return StreamResult(
        contestant=contestant,
        workload=workload,
        request=spec["name"],
        events=counts["events"],
        whole=counts["whole"],
        broken_off=counts["broken_off"],
        none=sum(_without_event(data, number) for data in trials) - stopped,
        unfinished=counts["unfinished"] + stopped,
        events_per_s=_per_s(trials, "events", number),
        met=counts["met"] if spec["stream"]["bounds"] is not None else None,
        met_per_s=_per_s(trials, "met", number) if spec["stream"]["bounds"] is not None else None,
        tokens_per_s=_per_s(trials, "tokens", number) if counted else None,
        without_tokens=counts.get("without_tokens") if counted else None,
        per_token=quantiles_over_rounds([data.recorded_of("event_per_token", number) for data in trials])
        if counted
        else {},
        first=quantiles_over_rounds([_first(data, number) for data in trials]),
        gap=quantiles_over_rounds([_broken(data, "event_gap", number) for data in trials]),
        longest_gap=quantiles_over_rounds([_broken(data, "event_longest_gap", number) for data in trials]),
        last=quantiles_over_rounds([data.times_of("event_last", number) for data in trials]),
        round_trip=quantiles_over_rounds([_round_trips(data, number) for data in trials]) if paced else {},
        unanswered=counts["unanswered"] if paced else None,
        over_time=_over_time(trials, number),
    )


def _over_time(trials: Sequence[TrialData], number: int) -> EventTimes:
    ordered = sorted(trials, key=lambda data: _counts(data, number).get("events", 0))
    data = ordered[len(ordered) // 2]
    first, gap, trip = (data.figures_of(f"event_{of}", number) for of in ("first", "gap", "round_trip"))
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


def _per_s(trials: Sequence[TrialData], what: str, number: int) -> Estimate:
    def of(data: TrialData) -> float:
        seconds = float(data.counts.end_ns[-1] - data.counts.start_ns[0]) / 1e9
        return _counts(data, number).get(what, 0) / seconds

    return mean_over_rounds([of(data) for data in trials], "/s")


def _counts(data: TrialData, number: int) -> Mapping[str, int]:
    return data.counts.streams.get((MEASURED, number), {})


def _without_event(data: TrialData, number: int) -> int:
    requests = sum(data.outcomes(MEASURED, number).values())
    return requests - data.recorded_of("event_first", number).n


def _stopped_before(data: TrialData, number: int) -> int:
    """Number of streams that the end of the load cut off before their first event."""
    outcomes = data.outcomes(MEASURED, number)
    stopped = sum(outcomes.get(kind, 0) for kind in ENDED_BY_STOP)
    return stopped - _counts(data, number).get("unfinished", 0)


def _first(data: TrialData, number: int) -> WeightedSample:
    """Times to the first event.

    Without one, streams that were given up are censored, and those that failed lie beyond every time.
    """
    given_up, begun = (data.recorded_of(measure, number) for measure in ("censored", "event_given_up"))
    waited = given_up.events.copy()
    np.subtract.at(waited, given_up.values_s.searchsorted(begun.values_s), begun.events)
    left = replace(given_up, events=waited).only_events()
    times = pool([data.recorded_of("event_first", number), data.waits(left.as_censored())])
    return replace(times, never=times.never + _without_event(data, number) - int(waited.sum()))


def _broken(data: TrialData, measure: str, number: int) -> WeightedSample:
    """Gaps, of which those in which a stream broke off lie beyond every time."""
    return replace(data.recorded_of(measure, number), never=_counts(data, number).get("broken_off", 0))


def _round_trips(data: TrialData, number: int) -> WeightedSample:
    """Round trips of messages; those without a response lie beyond every time."""
    never = _counts(data, number).get("unanswered", 0)
    return replace(data.recorded_of("event_round_trip", number), never=never)
