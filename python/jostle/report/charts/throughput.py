"""Pictures of throughput: alone beside with the slow request, and the share that is kept."""

from typing import Any

import altair as alt

from jostle.analysis.result import Cell, RunResult
from jostle.report import tables
from jostle.report.charts.common import (
    FIRST,
    GRID,
    INK,
    MUTED,
    SECOND,
    SURFACE,
    Datasets,
    Picture,
    Rows,
    short,
    whole,
)
from jostle.report.charts.titles import about_throughput
from jostle.report.text import amount, percent, published_per_s, shown
from jostle.report.views import ALONE, WITH_SLOW, View

__all__ = ["completed", "throughput"]

ROW_PX = 62


def throughput(result: RunResult, view: View) -> Picture:
    """Two bars per contestant with intervals over rounds; beside them the share kept, and as published."""
    form = next(p.starvation.form for p in view.panels if p.starvation)
    data = Datasets()
    chart = alt.concat(_bars(data, view), _kept(data, view), columns=2)
    has_published = any(p.starvation and p.starvation.published_with for p in view.panels)
    reading = (
        "Bars: fast requests served per second (blue: alone; vermilion: beside one slow request); the line is"
        " the 95 % interval over rounds. Dots: the share of its own throughput that each contestant keeps"
        + ("; hollow diamonds: as published." if has_published else ".")
    )
    return Picture(
        f"throughput-{view.key}",
        about_throughput(view),
        reading,
        whole(chart, narrowest=380),
        tables.comparison(result, form),
        data.rows,
    )


def _bars(data: Datasets, view: View) -> Any:
    bars: Rows = []
    names: Rows = []
    for i, panel in enumerate(view.panels):
        base = float(len(view.panels) - 1 - i)
        names.append({"y": base + 0.93, "text": short(panel.contestant)})
        s = panel.starvation
        if s is None:
            continue
        for name, estimate, top in ((ALONE, s.alone, base + 0.70), (WITH_SLOW, s.with_slow, base + 0.36)):
            if estimate.value is not None:
                told = amount(estimate.value, "/s") + (f"  {name}" if i == 0 else "")
                bars.append(
                    {
                        "x": estimate.value,
                        "low": estimate.low,
                        "high": estimate.high,
                        "top": top,
                        "text": told,
                    }
                    | {
                        "bottom": top - 0.3,
                        "middle": top - 0.15,
                        "series": name,
                        "end": estimate.high or estimate.value,
                    }
                )
    most = max((b["end"] for b in bars), default=1.0)
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, most * 1.32], nice=False),
        axis=alt.Axis(title="fast requests per second", tickCount=4, tickSize=0, labelPadding=6, format="~s"),
    )
    hue = alt.Color(
        "series:N", scale=alt.Scale(domain=[ALONE, WITH_SLOW], range=[FIRST, SECOND]), legend=None
    )
    rows = alt.Scale(domain=[0, len(view.panels)], nice=False)
    source = data(bars)
    layers = [
        alt.Chart(source)
        .mark_bar(opacity=0.85)
        .encode(x=x, x2=alt.X2Datum(0), y=alt.Y("bottom:Q", scale=rows, axis=None), y2="top:Q", color=hue),
        alt.Chart(source)
        .mark_rule(color=INK, strokeWidth=1.5)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=alt.Y("middle:Q", scale=rows, axis=None)),
        alt.Chart(source)
        .mark_text(align="left", dx=6, fontSize=11)
        .encode(x=alt.X("end:Q"), y=alt.Y("middle:Q", scale=rows, axis=None), text="text:N"),
        _names(data, names, alt.Y("y:Q", scale=rows, axis=None)),
    ]
    return alt.layer(*layers).properties(width=400, height=ROW_PX * len(view.panels))


def _kept(data: Datasets, view: View) -> Any:
    dots: Rows = []
    diamonds: Rows = []
    for i, panel in enumerate(view.panels):
        middle, s = len(view.panels) - 1 - i + 0.42, panel.starvation
        if s is None:
            continue
        if s.index.value is not None:
            low, high = s.index.low, s.index.high
            ends = {"low": None if high is None else 1 - high, "high": None if low is None else 1 - low}
            kept = 1 - s.index.value
            dots.append({"x": kept, **ends, "y": middle, "text": percent(max(kept, 0.0))})
        before, after = published_per_s(s.published_alone), published_per_s(s.published_with)
        if before and after is not None:
            diamonds.append(
                {"x": after / before, "y": middle, "text": f"published {percent(after / before)}"}
            )
    highest = max([1.0, *(d["high"] or d["x"] for d in dots)])
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, max(1.08, highest * 1.02)], nice=False),
        axis=alt.Axis(
            title="share of throughput kept beside the slow request",
            values=[0, 0.25, 0.5, 0.75, 1],
            format=".0%",
            grid=True,
            tickSize=0,
            labelPadding=6,
        ),
    )
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, len(view.panels)], nice=False), axis=None)
    source = data(dots)
    layers = [
        alt.Chart(data([{"y": d["y"]} for d in dots])).mark_rule(color=GRID).encode(y=y),
        alt.Chart(data(diamonds))
        .mark_point(shape="diamond", size=110, color=MUTED, strokeWidth=1.5)
        .encode(x=x, y=y),
        alt.Chart(data(diamonds)).mark_text(dy=16, fontSize=11, color=MUTED).encode(x=x, y=y, text="text:N"),
        alt.Chart(source).mark_rule(color=SECOND, strokeWidth=2.5).encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        alt.Chart(source)
        .mark_point(filled=True, size=70, color=SECOND, stroke=SURFACE, opacity=1)
        .encode(x=x, y=y),
        alt.Chart(source).mark_text(dy=-13, fontSize=11).encode(x=x, y=y, text="text:N"),
    ]
    return alt.layer(*layers).properties(width=330, height=ROW_PX * len(view.panels))


def completed(view: View, cells: list[Cell]) -> Picture:
    """A dot and its interval per contestant, for workloads without a slow request."""
    data = Datasets()
    rows: Rows = []
    names: Rows = []
    for i, cell in enumerate(cells):
        base = float(len(cells) - 1 - i)
        names.append({"y": base + 0.98, "text": short(cell.contestant)})
        found = cell.throughput
        if found.value is not None:
            rows.append(
                {
                    "x": found.value,
                    "low": found.low,
                    "high": found.high,
                    "bottom": base + 0.1,
                    "top": base + 0.55,
                }
                | {"middle": base + 0.325, "end": found.high or found.value, "text": str(shown(found))}
            )
    most = max((r["end"] for r in rows), default=1.0)
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, most * 1.4], nice=False),
        axis=alt.Axis(title="requests per second", tickCount=5, tickSize=0, labelPadding=6, format="~s"),
    )
    scale = alt.Scale(domain=[0, len(cells)], nice=False)
    middle = alt.Y("middle:Q", scale=scale, axis=None)
    source = data(rows)
    layers = [
        alt.Chart(source)
        .mark_bar(color=FIRST, opacity=0.85)
        .encode(x=x, x2=alt.X2Datum(0), y=alt.Y("bottom:Q", scale=scale, axis=None), y2="top:Q"),
        alt.Chart(source)
        .mark_rule(color=INK, strokeWidth=1.5)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=middle),
        alt.Chart(source)
        .mark_text(align="left", dx=6, fontSize=11)
        .encode(x=alt.X("end:Q"), y=middle, text="text:N"),
        _names(data, names, alt.Y("y:Q", scale=scale, axis=None)),
    ]
    chart = alt.layer(*layers).properties(width=820, height=54 * len(cells))
    table = tables.Table(f"Throughput: {view.title}", ["contestant", "throughput"])
    for c in cells:
        table.add(c.contestant, shown(c.throughput))
    reading = "Requests completed as expected, per second; the line is the 95 % interval over rounds."
    return Picture(f"throughput-{view.key}", _most(cells), reading, whole(chart), table, data.rows)


def _most(cells: list[Cell]) -> str:
    ranked = sorted((c.throughput.value or 0.0, c.contestant) for c in cells)
    (least, last), (most, first) = ranked[0], ranked[-1]
    if len(ranked) == 1:
        return f"{first} completes {amount(most, '/s')}."
    return f"{first} completes {amount(most, '/s')}, {last} {amount(least, '/s')}."


def _names(data: Datasets, names: Rows, y: alt.Y) -> Any:
    text = alt.Chart(data(names)).mark_text(align="left", baseline="top", fontWeight="bold")
    return text.encode(x=alt.value(2), y=y, text="text:N")
