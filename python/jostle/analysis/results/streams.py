"""Streams of events: when the first one came, how far they were apart, how the streams ended."""

from dataclasses import dataclass

from jostle.analysis.results.estimate import Estimate

__all__ = ["EventTimes", "StreamResult"]


@dataclass(frozen=True)
class EventTimes:
    """The events of the streams of one trial, interval by interval. None: an interval had no such event."""

    trial: int
    t_s: list[float]  # middle of the interval
    first_p50_s: list[float | None]
    first_p99_s: list[float | None]
    first_max_s: list[float | None]
    gap_p50_s: list[float | None]
    gap_p99_s: list[float | None]
    gap_max_s: list[float | None]
    round_trip_p50_s: list[float | None]
    round_trip_p99_s: list[float | None]
    round_trip_max_s: list[float | None]


@dataclass(frozen=True)
class StreamResult:
    """The streams that one request of one workload asked for, on one contestant, over all rounds."""

    contestant: str
    workload: str
    request: str
    events: int
    whole: int
    broken_off: int  # failed after their first event
    none: int  # requests that ended without an event, for whatever reason
    unfinished: int  # cut off by the end of the load, or never sent
    events_per_s: Estimate
    met: int | None  # whole ones that kept their bounds; None if there are no bounds
    met_per_s: Estimate | None  # goodput
    tokens_per_s: Estimate | None  # None unless streams say how many they had
    without_tokens: int | None  # whole ones that do not say it; None: they need not, or an old record
    per_token: dict[str, Estimate]  # (last - first event) / (tokens - 1)
    first: dict[str, Estimate]  # intended start to first event; requests that failed without one lie beyond
    gap: dict[str, Estimate]  # between events; a stream that broke off has one beyond all others
    longest_gap: dict[str, Estimate]  # of each stream that was whole or broke off
    last: dict[str, Estimate]  # intended start to last event
    round_trip: dict[
        str, Estimate
    ]  # from when a message was due to its response; those without one lie beyond
    unanswered: int | None  # messages whose stream ended before their response; None: none were awaited
    over_time: EventTimes  # of the trial with the median number of events
