"""The heat map of a frame: time from left to right, response times upwards, colours by how many there were.

The whole width is the whole load, so it fills as time passes. Each line of text holds two rows of cells, one
above the other; without colours it holds one, whose density says how many. Above it stands what is not
answered: requests that a server leaves waiting are in no cell until it answers them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jostle.analysis.stats.sample import Ints
from jostle.cli.terminal.line import Line
from jostle.live.axis import PER_DECADE, start_s
from jostle.live.column import Column
from jostle.units import format_duration

__all__ = ["LABEL", "bars", "heat_map", "unanswered"]

COLOURS = (16, 17, 53, 89, 125, 161, 202, 208, 214, 221, 229)
"""From none to the most, of a terminal's 256. The first is the background of the map on any terminal; a warm
ramp would turn brown at its dark end."""

DENSITIES = " ░▒▓█"
BARS = " ▁▂▃▄▅▆▇█"

LABEL = 14
"""Columns before the map."""

PER_LINE = (4, 6, 8, 12, 24, 48, 96)
"""How many bins of the axis a line may hold: so many that a steady server is no cloud, and such
that decades begin with a line."""

DECADES = ("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s")

USUAL = 8
"""A number of unanswered requests that stays the same is drawn as a low bar: it is no finding."""


@dataclass(frozen=True)
class _Framed:
    """Counts by place in time and by response time; the lowest bin, and how many of them a row has."""

    cells: Ints
    low: int
    each: int


def heat_map(columns: Sequence[Column], end_s: float, width: int, lines: int, *, styled: bool) -> list[Line]:
    """The map up to `end_s`, the shortest times in the last line."""
    rows = 2 if styled else 1
    framed = _framed(columns, end_s, width - LABEL, lines, rows)
    levels = _levels(framed.cells, len(COLOURS if styled else DENSITIES))
    labels = _labels(framed, lines, rows)
    drawn: list[Line] = []
    for number in reversed(range(lines)):
        upper, lower = levels[:, (number + 1) * rows - 1], levels[:, number * rows]
        label = (f"{labels.get(number, ''):>{LABEL - 2}} {'┤' if number in labels else '│'}", "2")
        if styled:
            pairs = zip(upper.tolist(), lower.tolist(), strict=True)
            drawn.append([label, *(_two_cells(*pair) for pair in pairs)])
        else:
            drawn.append([label, ("".join(DENSITIES[level] for level in upper), "")])
    return drawn


@lru_cache(maxsize=len(COLOURS) ** 2)
def _two_cells(upper: int, lower: int) -> tuple[str, str]:
    """One above the other. The text alone says where there is something, for whoever copies it."""
    ground = COLOURS[0]
    if upper == lower:
        return ("█", f"38;5;{COLOURS[upper]}") if upper else (" ", f"48;5;{ground}")
    if not upper:
        return "▄", f"38;5;{COLOURS[lower]};48;5;{ground}"
    return "▀", f"38;5;{COLOURS[upper]};48;5;{COLOURS[lower]}"


def unanswered(columns: Sequence[Column], end_s: float, width: int) -> Line:
    """A bar for each place in time: how many requests were due, and not answered."""
    waiting = np.array([column.unanswered for column in columns])
    which, places = _places(columns, end_s, width - LABEL)
    counts = np.zeros(width - LABEL, dtype=np.int64)
    np.maximum.at(counts, places, waiting[which])
    usual = int(np.sort(waiting)[len(columns) // 2])
    drawn = bars(counts.tolist(), max(1, USUAL * usual, int(counts.max())))
    return [(f"{'not answered':>{LABEL - 2}} │", "2"), (drawn, "31")]


def bars(values: Sequence[float], top: float) -> str:
    """A bar for each value, none for 0."""
    return "".join(BARS[math.ceil(value / top * (len(BARS) - 1))] for value in values)


def _framed(columns: Sequence[Column], end_s: float, across: int, lines: int, rows: int) -> _Framed:
    """What lies in each cell. The frame follows what is there, and begins and ends with whole lines."""
    counts = np.array([column.counts for column in columns])
    whole = np.flatnonzero(counts.sum(axis=0))
    first, last = (int(whole[0]), int(whole[-1])) if len(whole) else (3 * PER_DECADE, 4 * PER_DECADE)
    per_line = next((n for n in PER_LINE if last // n - first // n < lines), PER_LINE[-1])
    spare = lines - 1 - (last // per_line - first // per_line)
    low = max(0, first // per_line - spare // 2) * per_line
    each, up = per_line // rows, lines * rows
    shown = counts[:, low : low + up * each]
    padded = np.pad(shown, ((0, 0), (0, up * each - shown.shape[1])))
    cells = np.zeros((across, up), dtype=np.int64)
    in_rows = padded.reshape(len(columns), up, each).sum(axis=2)
    which, places = _places(columns, end_s, across)
    np.add.at(cells, places, in_rows[which])
    return _Framed(cells, low, each)


def _places(columns: Sequence[Column], end_s: float, across: int) -> tuple[Ints, Ints]:
    """Each place that a column fills, in time, as the number of the column and the place; one at least."""
    ends = np.array([(column.start_us, column.end_us) for column in columns]) / 1e6
    begin, until = np.rint(ends * (across / end_s)).astype(np.int64).T
    begin = np.minimum(begin, across - 1)
    widths = np.maximum(np.minimum(until, across), begin + 1) - begin
    which = np.repeat(np.arange(len(columns)), widths)
    within = np.arange(len(which)) - np.repeat(np.cumsum(widths) - widths, widths)
    return which, begin[which] + within


def _levels(cells: Ints, count: int) -> Ints:
    """0 for none; from 1 on by the logarithm of the number, on one scale for the whole map."""
    highest = int(cells.max(initial=0))
    if highest < 1:
        return cells
    shares = np.minimum(
        np.log1p(cells) / math.log1p(highest), 1.0
    )  # the logarithms may differ in their last bit
    return np.asarray(np.ceil(shares * (count - 1)).astype(np.int64))


def _labels(framed: _Framed, lines: int, rows: int) -> dict[int, str]:
    """The decades, by the line that begins with them; if there are fewer than two, the ends of the map."""
    starts = {number: framed.low + number * rows * framed.each for number in range(lines)}
    decades = {n: DECADES[place // PER_DECADE] for n, place in starts.items() if _is_decade(place)}
    if len(decades) > 1:
        return decades
    return decades | {n: format_duration(start_s(starts[n])) for n in {0, lines - 1} - decades.keys()}


def _is_decade(place: int) -> bool:
    return place % PER_DECADE == 0 and place // PER_DECADE < len(DECADES)
