"""The columns of one request of a trial, or one step of its journeys: what a heat map of it alone shows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jostle.histogram import decode
from jostle.live.column import MEASURES, Column, Columns
from jostle.live.counted import Counted
from jostle.record.growing import GrowingIntervals
from jostle.record.outcomes import ENDED_BY_STOP

__all__ = ["FollowedRequest", "RequestKey"]

NS_PER_US = 1_000


class RequestKey(NamedTuple):
    """Where a request is recorded."""

    workload: int
    """That of steps that each client does once is not the measured one."""
    number: int


class FollowedRequest:
    """Reads on in the intervals of a trial, as `FollowedTrial`; its columns are of the same intervals."""

    def __init__(self, folder: Path, key: RequestKey) -> None:
        self._key = key
        self._intervals = GrowingIntervals(folder)
        self._columns = Columns()
        self.intervals = 0
        """How many were read."""

    def read(self, up_to: int, max_intervals: int) -> None:
        """Up to that many from the start, and at most so many at once. Raises NotARun."""
        more = min(max_intervals, up_to - self.intervals)
        for interval in self._intervals.read(more) if more > 0 else ():
            self._columns.add(_column(interval, self._key))
            self.intervals += 1

    def columns(self) -> Sequence[Column]:
        """In order."""
        return self._columns.whole()


def _column(interval: Mapping[str, Any], key: RequestKey) -> Column:
    """One interval of a request alone. What is due and what is in flight is recorded of all together only."""
    series = (one for one in interval["series"] if (one["workload"], one["request"]) == key)
    recorded: Mapping[str, Any] = next(series, {"histograms": {}, "outcomes": {}})
    found = {name: decode(of["v2"]) for name, of in recorded["histograms"].items() if name in MEASURES}
    outcomes = {kind: count for kind, count in recorded["outcomes"].items() if count}
    failed = found.get("failed")
    return Column(
        start_us=interval["start_ns"] // NS_PER_US,
        end_us=interval["end_ns"] // NS_PER_US,
        response=Counted.of(found.get("response")),
        given_up=Counted.of(found.get("censored")),
        never=0 if failed is None else failed.total,
        pacing=Counted.of(found.get("pacing")),
        due=0,
        sent=0,
        outcomes=outcomes,
        unanswered=sum(outcomes.get(kind, 0) for kind in ENDED_BY_STOP),
        in_flight=0,
        generator=0.0,
    )
