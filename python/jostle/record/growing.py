"""The intervals of a trial that may still be written: read on from where the last reading ended."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jostle.record.hlog import HistogramEntry, parse_entries
from jostle.record.interval_line import NUMBERED_BY, IntervalEntry
from jostle.record.intervals import histogram_counts
from jostle.record.jsonl import damaged, parse, read_lines

__all__ = ["GrowingIntervals"]


class GrowingIntervals:
    """Intervals as they were recorded, each with the encoded histograms ("v2") of its series, journeys,
    streams and pings, as an engine gives them.
    """

    def __init__(self, folder: Path) -> None:
        self._lines = folder / "intervals.ndjson"
        self._hlog = folder / "intervals.hlog"
        self._lines_read = self._hlog_read = 0
        self._next = 0

    def read(self, max_intervals: int) -> Iterator[dict[str, Any]]:
        """The next intervals of which all is there, at most this many. Raises NotARun for a damaged file."""
        entries = self._entries()
        for line in read_lines(self._lines, self._lines_read):
            interval = parse(self._lines, line, IntervalEntry, self._next + 1)
            if interval["index"] != self._next:
                raise damaged(self._lines, f"line {self._next + 1} does not follow the one before it")
            before = self._hlog_read
            if not self._with_histograms(interval, entries):
                self._hlog_read = before
                return
            self._lines_read += len(line) + 1
            self._next += 1
            yield dict(interval)
            max_intervals -= 1
            if not max_intervals:
                return

    def _entries(self) -> Iterator[HistogramEntry]:
        return parse_entries(self._counted(), lambda *_: True)

    def _counted(self) -> Iterator[bytes]:
        for line in read_lines(self._hlog, self._hlog_read):
            self._hlog_read += len(line) + 1
            yield line

    def _with_histograms(self, interval: IntervalEntry, entries: Iterator[HistogramEntry]) -> bool:
        """Put the histograms of its series into the interval. Returns whether all were there: they are
        written before its line, but a power cut may lose either.
        """
        found: dict[tuple[tuple[int, int, int], str], bytes] = {}
        for key, _ in histogram_counts(interval):
            entry = next(entries, None)
            if entry is None:
                return False
            if (entry.series, entry.measure) != key or entry.start_ns != interval["start_ns"]:
                raise damaged(self._hlog, f"{entry} is not the one that follows")
            try:
                found[key] = base64.b64decode(entry.payload, validate=True)
            except binascii.Error as error:
                raise damaged(self._hlog, f"{entry}: {error}") from None
        series = [((one["workload"], one["request"], one["phase"]), one) for one in interval["series"]]
        for numbers, entry in [*series, *_numbered(interval)]:
            histograms: dict[str, Any] = dict(entry["histograms"])
            for measure, summary in histograms.items():
                histograms[measure] = {**summary, "v2": found[numbers, measure]}
            entry["histograms"] = histograms
        return True


def _numbered(interval: Mapping[str, Any]) -> Iterator[tuple[tuple[int, int, int], Any]]:
    """The journeys, streams and pings of an interval, each with its key in intervals.hlog."""
    for name, number in NUMBERED_BY.items():
        for entry in interval.get(name, ()):
            yield (entry["workload"], entry[number], 0), entry
