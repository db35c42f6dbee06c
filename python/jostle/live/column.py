"""The columns of a heat map: what was answered in each interval, merged in pairs when there are too many."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jostle.analysis.stats.sample import Ints
from jostle.analysis.validity.lateness import SUSPECT as MOSTLY

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
    p50_s: float | None
    """Of the right responses; of several intervals, the longest. None: there was none."""
    p99_s: float | None
    """The same."""
    due: int
    """Requests that became due; 0 in a closed loop."""
    sent: int
    outcomes: Mapping[str, int]
    """How many ended how."""
    in_flight: int
    """At the end; of several intervals, the most."""
    late_s: float | None
    """The p99 of the generator's lateness; of several intervals, the longest. None: it paced nothing."""
    generator: float
    """Cores in use by the generator's busiest thread; of several intervals, the most."""

    @property
    def late(self) -> bool:
        """Whether its longest times may be mostly the generator's own lateness."""
        return self.late_s is not None and self.p99_s is not None and self.late_s > MOSTLY * self.p99_s

    def with_next(self, other: "Column") -> "Column":
        """Both as one."""
        return Column(
            start_s=self.start_s,
            end_s=other.end_s,
            counts=self.counts + other.counts,
            unanswered=max(self.unanswered, other.unanswered),
            p50_s=_longest(self.p50_s, other.p50_s),
            p99_s=_longest(self.p99_s, other.p99_s),
            due=self.due + other.due,
            sent=self.sent + other.sent,
            outcomes=Counter(self.outcomes) + Counter(other.outcomes),
            in_flight=max(self.in_flight, other.in_flight),
            late_s=_longest(self.late_s, other.late_s),
            generator=max(self.generator, other.generator),
        )


def _longest(*times: float | None) -> float | None:
    return max((time for time in times if time is not None), default=None)


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
