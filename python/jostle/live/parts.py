"""The parts of a trial while it runs: each request or step, journey, stream, and generator, by itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jostle.analysis.results import Estimate
from jostle.analysis.stats.quantile_ci import quantile_estimates
from jostle.analysis.summaries.trial import background
from jostle.analysis.trials.counters import MEASURED
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.one_request import OneRequest
from jostle.analysis.trials.one_stream import streams_of
from jostle.live.growing import GrowingParts
from jostle.live.one_request import RequestKey

__all__ = ["GeneratorPart", "JourneyPart", "Parts", "RequestPart", "StreamPart", "parts_of"]

Times = Mapping[str, Estimate]
"""By name: the quantiles that tables show, and "max"; in seconds, of the whole trial so far."""


@dataclass(frozen=True)
class RequestPart:
    """A request of several, or a step of a journey."""

    name: str
    key: RequestKey
    journey: str
    """"" if it is a step of none."""
    once: bool
    """Whether each client sends it once, so that it is not counted with the others."""
    answered_per_s: float
    """As expected, in the last interval."""
    so_far_per_s: float
    times: Times
    outcomes: Mapping[str, int]


@dataclass(frozen=True)
class JourneyPart:
    """A journey, from its first step to its last."""

    name: str
    completed: int
    ended: int
    """By a failure of a step."""
    times: Times


@dataclass(frozen=True)
class StreamPart:
    """The streams of events that a request asks for."""

    name: str
    events_per_s: float
    """In the last interval."""
    so_far_per_s: float
    whole: int
    broken_off: int
    none: int
    """Ended without an event."""
    first: Times
    """Until the first event."""
    gap: Times
    """Between events."""


@dataclass(frozen=True)
class GeneratorPart:
    """One of several processes or cluster nodes that send the load."""

    number: int
    host: str
    """"" for this machine."""
    sent_per_s: float
    """In the last interval; 0 of one that is lost."""
    sent: int
    lag_s: float
    """How late its timers fired at most."""


@dataclass(frozen=True)
class Parts:
    """What is known of each part."""

    requests: Sequence[RequestPart]
    """Empty if there is one request only, which the figures of the trial are about, or too many."""
    unfollowed: int
    """How many requests there are, if those are too many to be followed one by one; else 0."""
    journeys: Sequence[JourneyPart]
    streams: Sequence[StreamPart]
    generators: Sequence[GeneratorPart]
    """Empty if there is one only."""
    background: Mapping[str, Any]
    """As in the results of a trial."""


def parts_of(data: TrialData, growing: GrowingParts) -> Parts:
    """`data`: of the trial so far."""
    requests = data.workload().get("requests") or ()
    return Parts(
        requests=list(_requests(data, growing)) if growing.followed else [],
        unfollowed=0 if growing.followed else len(requests),
        journeys=[
            _journey(data, number, spec["name"])
            for number, spec in enumerate(data.workload().get("journeys") or ())
        ],
        streams=list(_streams(data, growing)) if growing.followed else [],
        generators=[
            GeneratorPart(
                number=number,
                host=host,
                sent_per_s=growing.last_sent[number] / growing.last_s,
                sent=growing.sent[number],
                lag_s=growing.lag_us[number] / 1e6,
            )
            for number, host in _hosts(data).items()
        ],
        background=background(data),
    )


def _requests(data: TrialData, growing: GrowingParts) -> Iterator[RequestPart]:
    journeys = data.workload().get("journeys") or ()
    for journey in journeys:
        for step in journey["steps"]:
            once = step["once"] is not None and data.apart is not None
            yield _request(OneRequest(data, step["request"], once), journey["name"], growing)
    requests = data.workload().get("requests") or ()
    if not journeys and len(requests) > 1:
        for index in range(len(requests)):
            yield _request(OneRequest(data, index), "", growing)


def _request(one: OneRequest, journey: str, growing: GrowingParts) -> RequestPart:
    return RequestPart(
        name=one.name,
        key=RequestKey(one.recorded_in, one.index),
        journey=journey,
        once=one.once,
        answered_per_s=growing.last_ok[one.recorded_in, one.index] / growing.last_s,
        so_far_per_s=one.per_s,
        times=quantile_estimates(one.response),
        outcomes=one.outcomes,
    )


def _journey(data: TrialData, number: int, name: str) -> JourneyPart:
    counts = data.counts
    return JourneyPart(
        name=name,
        completed=counts.journeys.get((MEASURED, number), {}).get("completed", 0),
        ended=sum(counts.journey_ends.get((MEASURED, number), {}).values()),
        times=quantile_estimates(data.recorded_of("journey", number)),
    )


def _streams(data: TrialData, growing: GrowingParts) -> Iterator[StreamPart]:
    for one in streams_of(data):
        yield StreamPart(
            name=one.name,
            events_per_s=growing.last_events[one.index] / growing.last_s,
            so_far_per_s=one.per_s("events"),
            whole=one.counts.get("whole", 0),
            broken_off=one.counts.get("broken_off", 0),
            none=one.none,
            first=quantile_estimates(one.first),
            gap=quantile_estimates(one.gap),
        )


def _hosts(data: TrialData) -> Mapping[int, str]:
    """Where each of several generators is, by its number."""
    started = data.trial.description.get("generators") or ()
    return {one["number"]: one.get("host") or "" for one in started} if len(started) > 1 else {}
