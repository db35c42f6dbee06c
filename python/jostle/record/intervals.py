"""The intervals of a trial: a line for each in intervals.ndjson, their histograms in intervals.hlog.

Each file is checked against the other; of a trial that was cut short, only what is in both counts.
"""

import itertools
import math
import operator
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.errors import NotARun
from jostle.record.hlog import GENERATOR, HistogramEntry, SeriesKey, read_entries
from jostle.record.interval_line import NUMBERED_BY, IntervalEntry
from jostle.record.jsonl import damaged, read_objects

if TYPE_CHECKING:
    from jostle.histogram import Histogram

__all__ = ["RecordedIntervals", "Wanted", "histogram_counts"]

Measure = tuple[SeriesKey, str]
Wanted = Callable[[SeriesKey, str], bool]
"""Whether a measure of a series is wanted."""


class RecordedIntervals:
    """The intervals of one trial, read on demand. Every method raises NotARun for a damaged file."""

    def __init__(self, folder: Path, *, whole: bool) -> None:
        """`whole`: the trial came to its end, so nothing may be missing."""
        self.folder = folder
        self.whole = whole

    def check(self) -> None:
        """Check the form of intervals.ndjson; histograms are checked when they are read."""
        _ = self._index

    @cached_property
    def _index(self) -> "_Index":
        return _Index.of(self._read())

    def _read(self) -> Iterator[IntervalEntry]:
        """All intervals; of a trial that did not end as it should, those before the first unreadable one."""
        path = self.folder / "intervals.ndjson"
        before, last = -1, False
        entries = iter(()) if self.whole else read_entries(self.folder / "intervals.hlog", lambda *_: True)
        try:
            for number, interval in enumerate(read_objects(path, IntervalEntry)):
                if last or interval["index"] != number or interval["start_ns"] <= before:
                    raise damaged(path, f"line {number + 1} does not follow the one before it")
                if not self.whole and not _are_there(interval, entries):
                    return
                before, last = interval["start_ns"], interval["last"]
                yield interval
            if self.whole and not last:
                raise damaged(path, "the last interval is missing")
        except NotARun:
            if self.whole:
                raise

    def __iter__(self) -> Iterator[IntervalEntry]:
        """One at a time, read again each time; what has been written since the first time is left out."""
        return itertools.islice(self._read(), len(self._index.starts_ns))

    def histograms(
        self, wanted: Wanted, start_s: float = 0, end_s: float = math.inf
    ) -> "Iterator[tuple[int, SeriesKey, Histogram]]":
        """Histograms of the intervals that begin in `start_s..end_s`, with interval number and series.

        Only complete intervals count: the line in intervals.ndjson is written last. Each histogram must hold
        as many values as that line says.
        """
        path, index = self.folder / "intervals.hlog", self._index
        seen: dict[Measure, int] = defaultdict(int)
        for entry in read_entries(path, wanted):
            number = index.number_of(entry.start_ns)
            if number is None:
                if index.starts_ns and entry.start_ns <= index.starts_ns[-1]:
                    raise damaged(path, f"{entry} belongs to no interval")
                continue
            key = entry.series, entry.measure
            expected = index.expected(key, seen[key])
            seen[key] += 1
            if expected is None or expected[0] != number:
                raise damaged(path, f"{entry} is there twice, or one before it is missing")
            if start_s <= entry.start_s < end_s:
                histogram = _decoded(path, entry)
                if (found := histogram.total) != expected[1]:
                    raise damaged(path, f"{entry} has {found:,} values instead of {expected[1]:,}")
                yield number, entry.series, histogram
        if self.whole:
            for key, numbers in index.numbers.items():
                if wanted(*key) and seen[key] != len(numbers):
                    raise damaged(path, f"{len(numbers) - seen[key]} histograms of {key[1]} are missing")

    def merged(self, wanted: Wanted, start_s: float = 0, end_s: float = math.inf) -> "Histogram":
        """All of `histograms` in one."""
        return _merged(histogram for _, _, histogram in self.histograms(wanted, start_s, end_s))

    def histogram_of_each(self, wanted: Wanted) -> "Iterator[Histogram | None]":
        """One for each interval, read and decoded as it is asked for; None if nothing was recorded in it."""
        position = 0
        for number, group in itertools.groupby(self.histograms(wanted), operator.itemgetter(0)):
            yield from itertools.repeat(None, number - position)
            yield _sum([histogram for _, _, histogram in group])
            position = number + 1
        yield from itertools.repeat(None, len(self._index.starts_ns) - position)


class _Index:
    """Where the intervals of a trial begin, and how many values each of their histograms has."""

    def __init__(self) -> None:
        self.starts_ns = array("q")
        self.numbers: defaultdict[Measure, array[int]] = defaultdict(lambda: array("q"))
        self._counts: defaultdict[Measure, array[int]] = defaultdict(lambda: array("q"))

    @classmethod
    def of(cls, intervals: Iterable[IntervalEntry]) -> "_Index":
        index = cls()
        for number, interval in enumerate(intervals):
            index.starts_ns.append(interval["start_ns"])
            for key, count in histogram_counts(interval):
                index.numbers[key].append(number)
                index._counts[key].append(count)
        return index

    def number_of(self, start_ns: int) -> int | None:
        """The number of the interval that begins then; None if none does."""
        number = bisect_left(self.starts_ns, start_ns)
        found = number < len(self.starts_ns) and self.starts_ns[number] == start_ns
        return number if found else None

    def expected(self, key: Measure, place: int) -> tuple[int, int] | None:
        """Number of the interval and of values for the histogram at `place` among those of `key`, if any."""
        if key not in self.numbers or place >= len(self.numbers[key]):
            return None
        return self.numbers[key][place], self._counts[key][place]


def histogram_counts(interval: Mapping[str, Any]) -> Iterator[tuple[Measure, int]]:
    """The number of values of each of the interval's histograms, in the order of intervals.hlog."""
    if lag := interval.get("loop_lag"):
        yield (GENERATOR, "loop_lag"), lag["count"]
    for generator in interval.get("generators", ()):
        if service := generator.get("service"):
            yield ((-1, generator["generator"], -1), "service"), service["count"]
    for name, number in NUMBERED_BY.items():
        for entry in interval.get(name, ()):
            for measure, histogram in entry["histograms"].items():
                yield ((entry["workload"], entry[number], 0), measure), histogram["count"]
    for series in interval["series"]:
        key = series["workload"], series["request"], series["phase"]
        for measure, histogram in series["histograms"].items():
            yield (key, measure), histogram["count"]


def _are_there(interval: IntervalEntry, entries: Iterator[HistogramEntry]) -> bool:
    """Whether the next histograms of intervals.hlog are those of the interval.

    They are written before its line, but a power cut may lose either.
    """
    needed = sum(1 for _ in histogram_counts(interval))
    found = list(itertools.islice(entries, needed))
    return len(found) == needed and all(entry.start_ns == interval["start_ns"] for entry in found)


def _decoded(path: Path, entry: HistogramEntry) -> "Histogram":
    try:
        return entry.decode()
    except NotARun as error:
        raise damaged(path, error.message) from None


def _merged(histograms: "Iterable[Histogram]") -> "Histogram":
    from jostle.histogram import Histogram  # imported late: writing needs no numpy

    merged = Histogram()
    for histogram in histograms:
        merged.add(histogram)
    return merged


def _sum(histograms: "list[Histogram]") -> "Histogram":
    """The sum of recorded histograms, each only as wide as its values: none may have room for another."""
    return histograms[0] if len(histograms) == 1 else _merged(histograms)
