"""The columns of one request of a trial, or one step of its journeys: what a heat map of it alone shows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jostle.histogram import decode
from jostle.live.column import MEASURES, Column, Columns
from jostle.record.growing import GrowingIntervals

__all__ = ["FollowedRequest", "RequestKey"]


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
    return Column.counted(interval, found, recorded["outcomes"])
