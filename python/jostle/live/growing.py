"""What is recorded of each request, journey and stream of a trial, and of each generator, while it runs."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jostle.analysis.stats.sample import EMPTY, WeightedSample, from_histograms
from jostle.analysis.trials.counters import MEASURED
from jostle.histogram import Histogram, decode
from jostle.record.outcomes import Outcome

__all__ = ["MAX_REQUESTS", "GrowingParts", "Times", "times_in"]

MAX_REQUESTS = 50
"""Of a trial with more requests than this, none is followed by itself: to add the histograms of each takes
too long."""

OF_JOURNEY = ("journey",)
OF_STREAM = ("event_first", "event_gap", "event_given_up")
KEPT = ("response", "censored", "failed", *OF_JOURNEY, *OF_STREAM)
"""Measures whose sums are kept of each."""

NS = 1_000_000_000


@dataclass(frozen=True)
class Times:
    """What an interval recorded of one measure of a request or a journey."""

    measure: str
    workload: int
    number: int
    """Of the request, or of the journey."""
    histogram: Histogram


def times_in(
    interval: Mapping[str, Any], measures: Container[str], workloads: Container[int]
) -> Iterator[Times]:
    """What is wanted of an interval: these measures of the series of these workloads, and those of journeys
    and streams."""
    for series in interval["series"]:
        if series["workload"] in workloads:
            yield from _times(series, series["request"], measures)
    for name, key, wanted in (("journeys", "journey", OF_JOURNEY), ("streams", "request", OF_STREAM)):
        for entry in interval.get(name, ()):
            if entry["workload"] == MEASURED:
                yield from _times(entry, entry[key], wanted)


def _times(entry: Mapping[str, Any], number: int, measures: Container[str]) -> Iterator[Times]:
    for measure, recorded in entry["histograms"].items():
        if measure in measures:
            yield Times(measure, entry["workload"], number, decode(recorded["v2"]))


class GrowingParts:
    """`add` for each interval. Of times the sums are kept, of what is counted also that of the last one."""

    def __init__(self, followed: bool = True) -> None:
        """`followed`: whether requests are to be known one by one."""
        self.followed = followed
        self._sums = defaultdict[tuple[str, int], dict[int, Histogram]](dict)
        self.last_s = 1.0
        """The length of the last interval."""
        self.last_ok = Counter[tuple[int, int]]()
        """Right responses in it, by workload and request."""
        self.last_events = Counter[int]()
        """Events in it, by request."""
        self.sent, self.last_sent = Counter[int](), Counter[int]()
        """Requests that each of several generators sent, by its number: so far, and in the last interval."""
        self.lag_us = Counter[int]()
        """How late the timers of each fired at most."""

    def add(self, interval: Mapping[str, Any], times: Sequence[Times]) -> None:
        """`times`: as `times_in` gives them."""
        self.last_s = max(1, interval["end_ns"] - interval["start_ns"]) / NS
        self.last_ok, self.last_events, self.last_sent = Counter(), Counter(), Counter()
        for series in interval["series"]:
            self.last_ok[series["workload"], series["request"]] += series["outcomes"].get(Outcome.OK, 0)
        for stream in interval.get("streams", ()):
            if stream["workload"] == MEASURED:
                self.last_events[stream["request"]] += stream["events"]
        for one in times if self.followed else ():
            if one.measure in KEPT:
                sums = self._sums[one.measure, one.workload]
                sums[one.number] = _sum(sums.get(one.number), one.histogram)
        for generator in interval.get("generators", ()):
            number = generator["generator"]
            self.last_sent[number] = sum(generator["sent"][:1])
            self.lag_us[number] = max(self.lag_us[number], generator["loop_lag_max_us"])
        self.sent.update(self.last_sent)

    def recorded_of(self, measure: str, number: int, workload: int) -> WeightedSample:
        """As that of `TrialData`."""
        histogram = self._sums[measure, workload].get(number)
        return EMPTY if histogram is None else from_histograms([histogram])


def _sum(first: Histogram | None, second: Histogram) -> Histogram:
    """Both together, without empty slots behind them: there may be hundreds."""
    if first is None:
        return second
    longer, shorter = sorted((first.counts, second.counts), key=len, reverse=True)
    counts = longer.copy()
    counts[: len(shorter)] += shorter
    return Histogram(counts)
