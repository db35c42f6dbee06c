"""Pictures of ratios between workloads, and of what a thread costs: a dot and interval per contestant."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from jostle.analysis.results import Estimate, Ratio, RunResult, Threads
from jostle.formatting import amount
from jostle.report.charts.common import (
    FIRST,
    GRID,
    MUTED,
    SURFACE,
    Datasets,
    Picture,
    Rows,
    short,
    whole,
)
from jostle.report.sections import costs
from jostle.report.tables import Table

__all__ = ["cost_pictures"]

ROW_PX = 44


def cost_pictures(result: RunResult) -> list[Picture]:
    """One for each title of ratios, one for each workload that starts threads; where anything is known."""
    found = [_ratios(n, *group) for n, group in enumerate(costs.ratio_tables(result), 1)]
    found += [_threads(n, *group) for n, group in enumerate(costs.thread_tables(result), 1)]
    return [picture for picture in found if picture is not None]


def _ratios(number: int, group: Sequence[Ratio], table: Table) -> Picture | None:
    known = [r for r in group if r.ratio.value is not None]
    if not known:
        return None
    least, most = (f(known, key=lambda r: r.ratio.value or 0.0) for f in (min, max))
    told = [r.published / r.published_against if r.published and r.published_against else None for r in group]
    data = Datasets()
    rows = [(r.contestant, r.ratio, t) for r, t in zip(group, told, strict=True)]
    chart = _dots(data, rows, f"{group[0].quantity}, ratio", log=False, mark=1.0)
    title = f"{group[0].title}: {_short(least)}" + (f", {_short(most)}" if most is not least else "")
    reading = "Dots: the ratio, with its 95 % interval over rounds, paired by round; dashed: no change" + (
        "; hollow diamonds: as published." if any(told) else "."
    )
    return Picture(f"ratio-{number}", f"{title}.", reading, whole(chart), table, data.rows)


def _short(r: Ratio) -> str:
    return f"{r.ratio.value:.2f} on {r.contestant}"


def _threads(number: int, group: Sequence[Threads], table: Table) -> Picture | None:
    known = [t for t in group if t.memory_bytes.value]
    if not known:
        return None
    data = Datasets()
    rows = [(t.contestant, t.memory_bytes, t.published_bytes) for t in known]
    chart = _dots(data, rows, "memory per thread (logarithmic)", log=True)
    least, most = known[0], known[-1]
    title = f"A thread costs {amount(least.memory_bytes.value, 'bytes')} on {least.contestant}"
    if most is not least:
        title += f" and {amount(most.memory_bytes.value, 'bytes')} on {most.contestant}"
    reading = (
        f"Dots: the memory of each of {group[0].count:,} threads, with its 95 % interval over rounds"
        + ("; hollow diamonds: as published." if any(t.published_bytes for t in known) else ".")
    )
    return Picture(f"threads-{number}", f"{title}.", reading, whole(chart), table, data.rows)


def _dots(
    data: Datasets,
    found: Sequence[tuple[str, Estimate, float | None]],
    title: str,
    *,
    log: bool,
    mark: float | None = None,
) -> Any:
    """A row per contestant: name, dot, interval, figure; what was published as a hollow diamond."""
    low, high = _limits(found, log=log, mark=mark)
    scale = alt.Scale(type="log" if log else "linear", domain=[low, high], nice=False, clamp=True)
    label = "format(datum.value, '~s') + 'B'" if log else "format(datum.value, '.2~f')"
    ticks = _decades(low, high) if log else _steps(high)
    axis = alt.Axis(title=title, tickSize=0, labelPadding=6, labelExpr=label, values=ticks)
    x = alt.X("x:Q", scale=scale, axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, len(found)], nice=False), axis=None)
    dots, diamonds, names = _rows(found, log=log)
    source, told = alt.Chart(data(dots)), alt.Chart(data(diamonds))
    layers = [
        source.mark_rule(color=GRID).encode(y=y),
        told.mark_point(shape="diamond", size=110, color=MUTED, strokeWidth=1.5).encode(x=x, y=y),
        told.mark_text(dy=15, fontSize=11, color=MUTED).encode(x=x, y=y, text="text:N"),
        source.mark_rule(color=FIRST, strokeWidth=2.5).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        source.mark_point(filled=True, size=70, color=FIRST, stroke=SURFACE, opacity=1).encode(x=x, y=y),
        source.mark_text(dy=-12, fontSize=11).encode(x=x, y=y, text="text:N"),
        alt.Chart(data(names))
        .mark_text(align="left", baseline="middle", fontWeight="bold", dy=-12)
        .encode(x=alt.value(2), y=y, text="text:N"),
    ]
    if mark is not None:
        line = alt.Chart(data([{"x": mark}])).mark_rule(color=MUTED, strokeDash=[3, 3]).encode(x=x)
        layers.insert(1, line)
    return alt.layer(*layers).properties(width=820, height=ROW_PX * len(found))


def _limits(
    found: Sequence[tuple[str, Estimate, float | None]], *, log: bool, mark: float | None
) -> tuple[float, float]:
    """What the axis shows: every value, and intervals up to twice the largest value."""
    values = [v for _, e, told in found for v in (e.value, told) if v]
    if log:
        return min(values) / 8, max(values) * 3
    highest = max([*values, mark or 0.0])
    ends = [e.high for _, e, _ in found if e.high is not None]
    high = min(max([highest, *ends]), 2 * highest) * 1.06
    return -0.3 * high, high  # the names stand to the left of 0


def _steps(high: float) -> list[float]:
    """About four equal steps from 0."""
    step = next(step for step in (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, math.inf) if high / step <= 6)
    return [n * step for n in range(7) if n * step <= high] if math.isfinite(step) else [0, high]


def _decades(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten."""
    every = [float(f"{digit}e{power}") for power in range(10) for digit in (1, 2, 5)]
    return [value for value in every if low <= value <= high]


def _rows(found: Sequence[tuple[str, Estimate, float | None]], *, log: bool) -> tuple[Rows, Rows, Rows]:
    """(measured, published, names), the first contestant on top."""
    dots: Rows = []
    diamonds: Rows = []
    names: Rows = []
    for i, (contestant, e, told) in enumerate(found):
        y = len(found) - i - 0.6
        names.append({"y": y, "text": short(contestant)})
        if e.value is not None:
            text = amount(e.value, "bytes") if log else f"{e.value:.2f}"
            low, high = (e.low or None, e.high) if log else (e.low, e.high)
            dots.append({"x": e.value, "low": low, "high": high, "y": y, "text": text})
        if told:
            text = amount(told, "bytes") if log else f"{told:.2f}"
            diamonds.append({"x": told, "y": y, "text": f"published {text}"})
    return dots, diamonds, names
