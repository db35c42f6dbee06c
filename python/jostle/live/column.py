"""The columns of a heat map: what was answered in each interval, merged in pairs when there are too many."""

from collections.abc import Sequence
from dataclasses import dataclass

from jostle.analysis.stats.sample import Ints

__all__ = ["Column", "Columns"]

MAX_COLUMNS = 256
"""More columns than this are merged in pairs; a day then has columns of some minutes."""


@dataclass(frozen=True)
class Column:
    """Some successive intervals. Times are in seconds from the start of the trial."""

    start_s: float
    end_s: float
    counts: Ints
    """Right responses by response time, in the bins of the axis."""
    unanswered: int
    """Requests that were due and had no response at the end; of several intervals, the most."""
    p99_s: float | None
    """Of the right responses; of several intervals, the longest. None: there was none."""

    def with_next(self, other: "Column") -> "Column":
        """Both as one."""
        p99s = [one.p99_s for one in (self, other) if one.p99_s is not None]
        return Column(
            self.start_s,
            other.end_s,
            self.counts + other.counts,
            max(self.unanswered, other.unanswered),
            max(p99s, default=None),
        )


class Columns:
    """All columns so far; each of `each` intervals, but for the last one, which may still lack some."""

    def __init__(self) -> None:
        self._columns: list[Column] = []
        self._intervals_in_last = 0
        self.each = 1

    def add(self, interval: Column) -> None:
        """Append an interval."""
        if self._columns and self._intervals_in_last < self.each:
            self._columns[-1] = self._columns[-1].with_next(interval)
            self._intervals_in_last += 1
            return
        if len(self._columns) == MAX_COLUMNS:
            pairs = zip(self._columns[::2], self._columns[1::2], strict=True)
            self._columns = [first.with_next(second) for first, second in pairs]
            self.each *= 2
        self._columns.append(interval)
        self._intervals_in_last = 1

    def whole(self) -> Sequence[Column]:
        """All of them, in order."""
        return tuple(self._columns)
