"""Runs over time as tables: one per plan, workload and contestant, oldest first."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jostle.analysis.history import METRICS, IndexedFigures, IndexedRun, UnreadableRun
from jostle.analysis.stats.level_shifts import level_shifts
from jostle.analysis.stats.sample import Floats
from jostle.formatting import change, formatted, percent
from jostle.record.verdict import Verdict
from jostle.text import one_line

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["MIN_RUNS", "Change", "Trend", "render_history", "series_of", "started", "trend_of"]

HEADER = ("started", "", "commit", "throughput", "p50", "p90", "p99", "failed")

BARS = "▁▂▃▄▅▆▇█"

MIN_RUNS = 4
"""Fewer runs have no trend."""

MAX_BARS = 40

FLAT = 0.05
"""Values that differ by no more than this share are drawn as nearly the same."""


Measured = tuple[IndexedRun, IndexedFigures]
"""One workload on one contestant in one run."""


@dataclass(frozen=True)
class Change:
    """A change of level."""

    at: int
    """The first run of the new level, by its place among those of the trend."""
    text: str
    """By how much."""
    since: str


@dataclass(frozen=True)
class Trend:
    """A metric over the whole runs in which it is known, oldest first."""

    runs: list[Measured]
    changes: list[Change]


def series_of(entries: Sequence[IndexedRun]) -> dict[tuple[str, str, str], list[Measured]]:
    """The runs by plan, workload and contestant."""
    series: dict[tuple[str, str, str], list[Measured]] = {}
    for entry in entries:
        for f in entry.figures:
            series.setdefault((entry.title, f.workload, f.contestant), []).append((entry, f))
    return series


def trend_of(found: Sequence[Measured], metric: str) -> Trend:
    """Of one series: since when the metric is how much higher or lower."""
    known = [
        (entry, f)
        for entry, f in found
        if entry.complete and f.verdict is not Verdict.INVALID and getattr(f, metric).value
    ]
    logs = np.log([getattr(f, metric).value for _, f in known])
    changes = [
        Change(at, change(_ratio(logs[begin:at], logs[at:end])), _when(*known[at]))
        for begin, at, end in (_parts(logs) if len(known) >= MIN_RUNS else ())
    ]
    return Trend(known, changes)


def render_history(
    entries: Sequence[IndexedRun],
    unreadable: Sequence[UnreadableRun],
    console: "Console",
    nothing: str,
) -> None:
    """Print the runs, or `nothing` if there are none. Fits into 80 columns."""
    from rich.text import Text

    series = series_of(entries)
    tables = {key: [_row(entry, f) for entry, f in found] for key, found in series.items()}
    rows = [HEADER, *(row for table in tables.values() for row in table)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    title = None
    for (plan, workload, contestant), table in tables.items():
        if plan != title:
            console.out(f"\n{one_line(plan)}", style="bold", highlight=False)
            title = plan
        console.out(f"\n{one_line(contestant)}, {one_line(workload)}", highlight=False)
        console.out(_line(HEADER, widths), style="dim", highlight=False)
        console.out("\n".join(_line(row, widths) for row in table), highlight=False)
        for line in _trends(series[plan, workload, contestant]):
            console.out(line, highlight=False)
    if not all(entry.complete for found in series.values() for entry, _ in found):
        console.print("\npart: the run was cut short, or is still going")
    if not series:
        console.print(nothing)
    for broken in unreadable:
        console.print(
            Text(f"{one_line(broken.folder)} cannot be read: {one_line(broken.why)}", style="yellow")
        )


def _row(entry: IndexedRun, figures: IndexedFigures) -> Sequence[str]:
    times = [formatted(getattr(figures, metric)).value for metric in METRICS]
    mark = figures.verdict.symbol + ("" if entry.complete else " part")
    return (started(entry), mark, figures.commit, *times, percent(figures.error_share))


def started(entry: IndexedRun) -> str:
    """The local time, as short as it can be sorted by: "2026-11-21 18:52"."""
    return entry.started[:16].replace("T", " ")


def _trends(found: Sequence[Measured]) -> Iterator[str]:
    """A small picture of each metric, and since when it is how much higher or lower."""
    for metric in METRICS:
        trend = trend_of(found, metric)
        if len(trend.runs) < MIN_RUNS:
            continue
        changes = ", ".join(f"{one.text} since {one.since}" for one in trend.changes)
        logs = np.log([getattr(f, metric).value for _, f in trend.runs[-MAX_BARS:]])
        yield f"  {metric:<10}  {_bars(logs)}  {changes or 'no change'}"


def _parts(logs: Floats) -> Iterator[tuple[int, int, int]]:
    """Each change of level: where the level before begins, where it changes, and where the new one ends."""
    edges = [0, *level_shifts(logs), len(logs)]
    yield from zip(edges, edges[1:], edges[2:], strict=False)


def _ratio(before: Floats, after: Floats) -> float:
    return math.exp(float(after.mean() - before.mean()))


def _bars(logs: Floats) -> str:
    """A bar for each run, from the lowest value to the highest; all low if they hardly differ."""
    low, high = float(logs.min()), float(logs.max())
    wide = max(high - low, FLAT)
    return "".join(BARS[int((float(x) - low) / wide * (len(BARS) - 1))] for x in logs)


def _when(entry: IndexedRun, figures: IndexedFigures) -> str:
    return started(entry) + (f" ({figures.commit})" if figures.commit else "")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    """A row of a table as plain text, since a row of a `rich` table takes 3 ms and there may be thousands."""
    padded = [
        cell.ljust(width) if number < 2 else cell.rjust(width)
        for number, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded)
