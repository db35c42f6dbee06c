"""HdrHistogram interval logs, version 1.3: readable by HdrHistogram's own tools.

A line is `Tag=W.R.P.measure,start_s,length_s,max_ms,histogram`: W, R, P are the numbers of workload, request
and phase, start counts from the trial's start, the histogram (µs) is base64 of the V2 encoding. Histograms of
the generator as a whole have the tag `generator.measure`, those of number N of several `generator.N.measure`.
For the measures "journey…", R is the number of the journey.
Source: HistogramLogWriter and HistogramLogReader of the Java HdrHistogram.
"""

import base64
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.errors import NotARun
from jostle.record.interval_line import NUMBERED_BY
from jostle.record.jsonl import read_lines
from jostle.text import one_line

if TYPE_CHECKING:
    from jostle.histogram import Histogram

__all__ = [
    "GENERATOR",
    "HistogramEntry",
    "SeriesKey",
    "header",
    "interval_lines",
    "parse_entries",
    "read_entries",
]

SeriesKey = tuple[int, int, int]
"""Workload, request, phase."""

GENERATOR: SeriesKey = (-1, -1, -1)
"""The `HistogramEntry.series` of an entry that belongs to no workload."""


@dataclass(frozen=True, slots=True)
class HistogramEntry:
    """One line: one measure of one series in one interval, still encoded."""

    series: SeriesKey
    measure: str
    start_s: float
    length_s: float
    payload: str

    def __str__(self) -> str:
        return f"the {one_line(self.measure)} histogram of the interval at {self.start_s:g} s"

    @property
    def start_ns(self) -> int:
        return round(self.start_s * 1e9)

    def decode(self) -> "Histogram":
        """Decode the payload. Raises NotARun if it is damaged."""
        from jostle.histogram import decode  # imported late: writing needs no numpy

        try:
            return decode(base64.b64decode(self.payload, validate=True))
        except (ValueError, zlib.error) as error:
            raise NotARun(f"{self} is damaged: {error}") from error


def header(version: str, started_unix_ns: int) -> str:
    """The lines before the first interval, without the last line end."""
    started_s = started_unix_ns / 1e9
    stamp = datetime.fromtimestamp(started_s, UTC).isoformat(sep=" ", timespec="milliseconds")
    return "\n".join(
        [
            f"#[Logged with jostle {version}; values in microseconds]",
            "#[Histogram log format version 1.3]",
            f"#[StartTime: {started_s:.3f} (seconds since epoch), {stamp}]",
            f"#[BaseTime: {started_s:.3f} (seconds since epoch)]",
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
        ]
    )


def interval_lines(interval: Mapping[str, Any]) -> Iterator[str]:
    """A line for every histogram of an engine's interval."""
    start_s = interval["start_ns"] / 1e9
    length_s = (interval["end_ns"] - interval["start_ns"]) / 1e9

    def line(tag: str, histogram: Mapping[str, Any]) -> str:
        payload = base64.b64encode(histogram["v2"]).decode("ascii")
        return f"Tag={tag},{start_s:.9f},{length_s:.9f},{histogram['max_us'] / 1e3:.3f},{payload}"

    if interval.get("loop_lag"):
        yield line("generator.loop_lag", interval["loop_lag"])
    for generator in interval.get("generators", ()):
        if generator["service"]:
            yield line(f"generator.{generator['generator']}.service", generator["service"])
    for name, number in NUMBERED_BY.items():
        for entry in interval.get(name, ()):
            for measure, histogram in entry["histograms"].items():
                yield line(f"{entry['workload']}.{entry[number]}.0.{measure}", histogram)
    for series in interval["series"]:
        numbers = f"{series['workload']}.{series['request']}.{series['phase']}"
        for measure, histogram in series["histograms"].items():
            yield line(f"{numbers}.{measure}", histogram)


def read_entries(path: Path, wanted: Callable[[SeriesKey, str], bool]) -> Iterator[HistogramEntry]:
    """The entries of wanted series and measures from complete lines, one at a time, in the file's order."""
    return parse_entries(read_lines(path), wanted)


def parse_entries(
    lines: Iterable[bytes], wanted: Callable[[SeriesKey, str], bool]
) -> Iterator[HistogramEntry]:
    """The entries of wanted series and measures. Lines without one of our tags (comments) are skipped."""
    tags: dict[str, tuple[SeriesKey, str] | None] = {}
    for line in lines:
        name, _, rest = line.decode("ascii", "replace").partition(",")
        if name not in tags:
            tag = _tag(name)
            tags[name] = tag if tag is not None and wanted(*tag) else None
        chosen = tags[name]
        if chosen is not None and (entry := _entry(*chosen, rest)) is not None:
            yield entry


def _tag(name: str) -> tuple[SeriesKey, str] | None:
    if not name.startswith("Tag="):
        return None
    *where, measure = name.removeprefix("Tag=").split(".")
    try:
        return _series(where), measure
    except ValueError:
        return None


def _series(where: list[str]) -> SeriesKey:
    """The series that a tag names. Raises ValueError if it names none."""
    if where[:1] != ["generator"]:
        workload, request, phase = map(int, where)
        return workload, request, phase
    return GENERATOR if len(where) == 1 else (-1, int(where[1]), -1)


def _entry(series: SeriesKey, measure: str, rest: str) -> HistogramEntry | None:
    fields = rest.split(",")
    if len(fields) != 4:
        return None
    try:
        start_s, length_s = float(fields[0]), float(fields[1])
    except ValueError:
        return None
    if not (math.isfinite(start_s) and math.isfinite(length_s)):
        return None
    return HistogramEntry(series, measure, start_s, length_s, fields[3])
