"""The streams of events that one request of a trial asked for, by themselves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.analysis.trials.data import MEASURED, TrialData
from jostle.record.outcomes import ENDED_BY_STOP

__all__ = ["OneStream", "streams_of"]


@dataclass(frozen=True)
class OneStream:
    """What a trial recorded of the streams of one request."""

    data: TrialData
    index: int
    """The request's place in the workload."""

    @property
    def _request(self) -> Mapping[str, Any]:
        request: Mapping[str, Any] = self.data.workload()["requests"][self.index]
        return request

    @property
    def name(self) -> str:
        return str(self._request["name"])

    @property
    def spec(self) -> Mapping[str, Any]:
        """What is awaited of a stream."""
        spec: Mapping[str, Any] = self._request["stream"]
        return spec

    @property
    def paced(self) -> bool:
        """Whether its messages are sent periodically, each of them answered by one."""
        return (self._request.get("grpc") or {}).get("every_ns") is not None

    @property
    def requests(self) -> int:
        """All that were to be sent, however they ended."""
        return sum(self.data.outcomes(MEASURED, self.index).values())

    @property
    def counts(self) -> Mapping[str, int]:
        """Events, streams by how they ended, …: the sums of `STREAMS`."""
        return self.data.counts.streams.get((MEASURED, self.index), {})

    @property
    def stopped_before(self) -> int:
        """Number of streams that the end of the load cut off before their first event."""
        outcomes = self.data.outcomes(MEASURED, self.index)
        stopped = sum(outcomes.get(kind, 0) for kind in ENDED_BY_STOP)
        return stopped - self.counts.get("unfinished", 0)

    @property
    def none(self) -> int:
        """Requests that ended without an event, for whatever reason but the end of the load."""
        return self._without_event - self.stopped_before

    @property
    def ended(self) -> int:
        """Streams that ended by themselves."""
        return self.requests - self.counts.get("unfinished", 0) - self.stopped_before

    def per_s(self, what: str) -> float:
        """One of the `counts` per second."""
        ends, starts = self.data.counts.end_ns, self.data.counts.start_ns
        return self.counts.get(what, 0) / (float(ends[-1] - starts[0]) / 1e9)

    @property
    def first(self) -> WeightedSample:
        """Times to the first event.

        Without one, streams that were given up are censored, and those that failed lie beyond every time.
        """
        given_up, begun = self.recorded("censored"), self.recorded("event_given_up")
        waited = given_up.events.copy()
        np.subtract.at(waited, given_up.values_s.searchsorted(begun.values_s), begun.events)
        left = replace(given_up, events=waited).only_events()
        times = pool([self.recorded("event_first"), self.data.waits(left.as_censored())])
        return replace(times, never=times.never + self._without_event - int(waited.sum()))

    @property
    def gap(self) -> WeightedSample:
        """Times between events; a stream that broke off has one that lies beyond every time."""
        return self._broken("event_gap")

    @property
    def longest_gap(self) -> WeightedSample:
        """The longest gap of each stream, as `gap`."""
        return self._broken("event_longest_gap")

    @property
    def round_trip(self) -> WeightedSample:
        """Round trips of messages; those without a response lie beyond every time."""
        return replace(self.recorded("event_round_trip"), never=self.counts.get("unanswered", 0))

    def recorded(self, measure: str) -> WeightedSample:
        """All times recorded of a measure."""
        return self.data.recorded_of(measure, self.index)

    @property
    def _without_event(self) -> int:
        return self.requests - self.recorded("event_first").n

    def _broken(self, measure: str) -> WeightedSample:
        return replace(self.recorded(measure), never=self.counts.get("broken_off", 0))


def streams_of(data: TrialData) -> Sequence[OneStream]:
    """Those of each request of the measured workload that asks for a stream."""
    requests = enumerate(data.workload().get("requests") or [])
    return [OneStream(data, number) for number, spec in requests if spec.get("stream") is not None]
