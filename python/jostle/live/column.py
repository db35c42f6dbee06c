"""The columns of a heat map: what ended in each interval, merged in pairs when there are too many."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from jostle.analysis.stats.sample import Ints
from jostle.analysis.trials.counters import MEASURED
from jostle.analysis.validity.lateness import SUSPECT_ABOVE as MOSTLY
from jostle.histogram import Histogram
from jostle.live.axis import binned
from jostle.live.counted import Counted
from jostle.quantiles import NAMED
from jostle.record.outcomes import ENDED_BY_STOP

__all__ = ["MEASURES", "Column", "Columns", "in_pairs"]

MAX_COLUMNS = 256
"""More columns than this are merged in pairs; a day then has columns of some minutes."""

MEASURES = ("response", "censored", "failed", "pacing")
"""The measures that a column is made of."""

NS_PER_US = 1_000


@dataclass(frozen=True, eq=False)
class Column:
    """Some successive intervals of the measured workload. Histograms add, so all figures are exact."""

    start_us: int
    """From the start of the trial."""
    end_us: int
    response: Counted
    """Response times of the right responses."""
    given_up: Counted
    """Of requests that were given up, how long they took until then."""
    never: int
    """Requests that failed and never get a response."""
    pacing: Counted
    """How late the generator sent."""
    due: int
    """Requests that became due; 0 in a closed loop, where they are due when their client is free."""
    sent: int
    outcomes: Mapping[str, int]
    """How many requests ended how."""
    unanswered: int
    """Requests that were due and had no response at the end; of several intervals, the most."""
    in_flight: int
    """At the end; of several intervals, the most."""
    generator: float
    """Cores in use by the generator's busiest thread; of several intervals, the most."""

    @classmethod
    def of(
        cls, interval: Mapping[str, Any], histograms: Mapping[str, Histogram | None], generator: float
    ) -> "Column":
        """One interval of the record, with its histograms of `MEASURES`."""
        states = interval["workloads"]
        state: Mapping[str, int] = states[MEASURED] if states else {}
        outcomes: Counter[str] = Counter()
        for series in interval["series"]:
            if series["workload"] == MEASURED:
                outcomes.update(series["outcomes"])
        return cls.counted(interval, histograms, outcomes, state, generator)

    @classmethod
    def counted(
        cls,
        interval: Mapping[str, Any],
        histograms: Mapping[str, Histogram | None],
        outcomes: Mapping[str, int],
        state: Mapping[str, int] = {},
        generator: float = 0.0,
    ) -> "Column":
        """What some requests of an interval made of it. `state`: what is due and in flight, as far as that is
        recorded of them.
        """
        given_up = sum(outcomes.get(kind, 0) for kind in ENDED_BY_STOP)
        in_flight, failed = state.get("in_flight", 0), histograms.get("failed")
        return cls(
            start_us=interval["start_ns"] // NS_PER_US,
            end_us=interval["end_ns"] // NS_PER_US,
            response=Counted.of(histograms.get("response")),
            given_up=Counted.of(histograms.get("censored")),
            never=failed.total if failed is not None else 0,
            pacing=Counted.of(histograms.get("pacing")),
            due=state.get("due", 0),
            sent=state.get("sent", 0),
            outcomes={kind: count for kind, count in outcomes.items() if count},
            unanswered=in_flight + state.get("backlog", 0) + given_up,
            in_flight=in_flight,
            generator=generator,
        )

    @property
    def start_s(self) -> float:
        return self.start_us / 1e6

    @property
    def end_s(self) -> float:
        return self.end_us / 1e6

    @cached_property
    def counts(self) -> Ints:
        """Right responses by response time, in the bins of the axis."""
        return binned(self.response.places, self.response.counts)

    @cached_property
    def p50_s(self) -> float | None:
        """Of the right responses; None: there was none."""
        return self.response.quantile(NAMED["p50"])

    @cached_property
    def p99_s(self) -> float | None:
        """The same."""
        return self.response.quantile(NAMED["p99"])

    @cached_property
    def late_s(self) -> float | None:
        """The p99 of the generator's lateness; None: it paced nothing."""
        return self.pacing.quantile(NAMED["p99"])

    @property
    def late(self) -> bool:
        """Whether its longest times may be mostly the generator's own lateness."""
        return self.late_s is not None and self.p99_s is not None and self.late_s > MOSTLY * self.p99_s

    def with_next(self, other: "Column") -> "Column":
        """Both as one."""
        return Column(
            start_us=self.start_us,
            end_us=other.end_us,
            response=self.response.plus(other.response),
            given_up=self.given_up.plus(other.given_up),
            never=self.never + other.never,
            pacing=self.pacing.plus(other.pacing),
            due=self.due + other.due,
            sent=self.sent + other.sent,
            outcomes=Counter(self.outcomes) + Counter(other.outcomes),
            unanswered=max(self.unanswered, other.unanswered),
            in_flight=max(self.in_flight, other.in_flight),
            generator=max(self.generator, other.generator),
        )

    def with_missed(self, missed: int) -> "Column":
        """With more requests that never get a response, as they were not even sent."""
        return replace(self, never=self.never + missed) if missed else self

    def as_data(self) -> dict[str, Any]:
        """For the pages, whose script is `report/scripts/columns.js`: times in µs, histograms as pairs."""
        return {
            "start": self.start_us,
            "end": self.end_us,
            "due": self.due,
            "unanswered": self.unanswered,
            "never": self.never,
            "outcomes": dict(self.outcomes),
            "late": self.late,
            "response": self.response.pairs(),
            "given_up": self.given_up.pairs(),
            "pacing": self.pacing.pairs(),
        }


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
            self._columns = in_pairs(self._columns)
            self.each *= 2
        self._columns.append(interval)
        self._intervals_in_last = 1

    def whole(self) -> Sequence[Column]:
        """All of them, in order."""
        return tuple(self._columns)


def in_pairs(columns: Sequence[Column]) -> list[Column]:
    """Each two as one; of an odd number, the last one stays."""
    pairs = zip(columns[::2], columns[1::2], strict=False)
    return [*(first.with_next(second) for first, second in pairs), *columns[len(columns) // 2 * 2 :]]
