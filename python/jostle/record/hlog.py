"""HdrHistogram interval logs, version 1.3: readable by HdrHistogram's own tools.

A line is `Tag=W.R.P.measure,start_s,length_s,max_ms,histogram`: W, R, P are the numbers of workload, request
and phase, start counts from the trial's start, the histogram (µs) is base64 of the V2 encoding. Histograms of
the generator as a whole have the tag `generator.measure`, those of number N of several `generator.N.measure`.
For the measures "journey…", R is the number of the journey.
Source: HistogramLogWriter and HistogramLogReader of the Java HdrHistogram.
"""

import base64
import math
import struct
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle.errors import NotARun
from jostle.record.interval_line import NUMBERED_BY
from jostle.record.jsonl import read_lines
from jostle.text import one_line

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

__all__ = [
    "GENERATOR",
    "HistogramEntry",
    "Series",
    "empty_histogram",
    "from_v2",
    "header",
    "interval_lines",
    "merge",
    "read_entries",
]

LOWEST_US, HIGHEST_US, DIGITS = 1, 3_600_000_000, 3

SLOTS = 23 << 10
"""Slots of a histogram of these limits."""

MAX_INFLATED_BYTES = 4 << 20
"""Most bytes that a payload may inflate to; a full histogram of these limits has less than 300 kB."""

MAX_HIGHEST_US = 2**40

V2_HEADER_BYTES = 8
PAYLOAD_HEADER = struct.Struct(">IIIIQQd")
"""Cookie, length, normalizing offset, digits, lowest and highest value, ratio: the V2 encoding's header."""

Series = tuple[int, int, int]
"""Workload, request, phase."""

GENERATOR: Series = (-1, -1, -1)
"""The `HistogramEntry.series` of an entry that belongs to no workload."""


@dataclass(frozen=True, slots=True)
class HistogramEntry:
    """One line: one measure of one series in one interval, still encoded."""

    series: Series
    measure: str
    start_s: float
    length_s: float
    payload: str

    def __str__(self) -> str:
        return f"the {one_line(self.measure)} histogram of the interval at {self.start_s:g} s"

    @property
    def start_ns(self) -> int:
        return round(self.start_s * 1e9)

    def decode(self) -> "HdrHistogram":
        """Decode the payload. Raises NotARun if it is damaged."""
        from hdrh.histogram import HdrHistogram

        try:
            _check_payload(self.payload)
            decoded = HdrHistogram.decode(self.payload)
            _check_range(decoded)
        except Exception as error:  # hdrh's errors have no common base class
            raise NotARun(f"{self} is damaged: {error or type(error).__name__}") from error
        return _without_cycle(decoded)


def _check_payload(payload: str) -> None:
    """Check, before decoding, that what it inflates to is bounded, and so is the histogram it asks for.

    Raises ValueError, zlib.error.
    """
    compressed = base64.b64decode(payload, validate=True)[V2_HEADER_BYTES:]
    inflating = zlib.decompressobj()
    inflated = inflating.decompress(compressed, MAX_INFLATED_BYTES)
    if inflating.unconsumed_tail:
        raise ValueError(f"it inflates to more than {MAX_INFLATED_BYTES} bytes")
    if len(inflated) < PAYLOAD_HEADER.size:
        raise ValueError("it is too short")
    _cookie, _length, _offset, digits, lowest, highest, _ratio = PAYLOAD_HEADER.unpack_from(inflated)
    if (lowest, digits) != (LOWEST_US, DIGITS) or not 0 < highest <= MAX_HIGHEST_US:
        raise ValueError(f"it holds values from {lowest} to {highest} with {digits} digits")


def _check_range(histogram: "HdrHistogram") -> None:
    """Check that it has no values beyond those of `empty_histogram`. Raises ValueError."""
    if any(histogram.counts[SLOTS:]):
        raise ValueError(f"it has values beyond {HIGHEST_US} µs")


def empty_histogram() -> "HdrHistogram":
    """A histogram like the engine's: 1 µs to 1 h, 3 digits."""
    from hdrh.histogram import HdrHistogram

    return _without_cycle(HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS))


def from_v2(encoded: bytes) -> "HdrHistogram":
    """A histogram of the engine in this process, in the V2 encoding."""
    from hdrh.histogram import HdrHistogram

    return _without_cycle(HdrHistogram.decode(base64.b64encode(encoded)))


def _without_cycle(histogram: "HdrHistogram") -> "HdrHistogram":
    """Break the cycle of histogram and encoder: thousands would wait for the garbage collector."""
    histogram.encoder.histogram = weakref.proxy(histogram)
    return histogram


def merge(into: "HdrHistogram", other: "HdrHistogram") -> None:
    """Add all of `other`, slot by slot, because hdrh adds value by value if one is wider than the other.

    `into` must be as wide as `empty_histogram`. Raises NotARun if `other` has values beyond that, or another
    number of digits.
    """
    import numpy

    ours, theirs = (numpy.frombuffer(h.counts, dtype=numpy.uint64) for h in (into, other))
    layouts = {(h.sub_bucket_count, h.unit_magnitude, h.word_size) for h in (into, other)}
    if len(layouts) > 1 or theirs[len(ours) :].any():
        raise NotARun(f"a histogram has values beyond {HIGHEST_US} µs, or another number of digits")
    ours[: len(theirs)] += theirs[: len(ours)]
    into.total_count += other.total_count
    into.min_value = min(into.min_value, other.min_value)
    into.max_value = max(into.max_value, other.max_value)


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


def read_entries(path: Path, wanted: Callable[[Series, str], bool]) -> Iterator[HistogramEntry]:
    """The entries of wanted series and measures from complete lines, one at a time, in the file's order.

    Lines without one of our tags (comments, the legend) are skipped.
    """
    tags: dict[str, tuple[Series, str] | None] = {}
    for line in read_lines(path):
        name, _, rest = line.decode("ascii", "replace").partition(",")
        if name not in tags:
            tag = _tag(name)
            tags[name] = tag if tag is not None and wanted(*tag) else None
        chosen = tags[name]
        if chosen is not None and (entry := _entry(*chosen, rest)) is not None:
            yield entry


def _tag(name: str) -> tuple[Series, str] | None:
    if not name.startswith("Tag="):
        return None
    *where, measure = name.removeprefix("Tag=").split(".")
    try:
        return _series(where), measure
    except ValueError:
        return None


def _series(where: list[str]) -> Series:
    """The series that a tag names. Raises ValueError if it names none."""
    if where[:1] != ["generator"]:
        workload, request, phase = map(int, where)
        return workload, request, phase
    return GENERATOR if len(where) == 1 else (-1, int(where[1]), -1)


def _entry(series: Series, measure: str, rest: str) -> HistogramEntry | None:
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
