"""Pictures of throughput: alone beside with the slow request, and the share that is kept."""

from typing import Any

import altair as alt

from jostle.analysis.results import Estimate, RunResult, WorkloadSummary
from jostle.formatting import amount, formatted, percent
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
from jostle.report.text import published_per_s
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
    styled, table = whole(chart, narrowest=380), tables.comparison(result, form)
    return Picture(f"throughput-{view.key}", about_throughput(view), reading, styled, table, data.rows)


def _bars(data: Datasets, view: View) -> Any:
    rows = _bar_rows(view)
    x = _rate_axis(max((r["end"] for r in rows), default=1.0) * 1.32, "fast requests per second")
    hue = alt.Color(
        "series:N", scale=alt.Scale(domain=[ALONE, WITH_SLOW], range=[FIRST, SECOND]), legend=None
    )
    names = [p.contestant for p in view.panels]
    chart = _bar_layers(data, rows, x, names, hue)
    return chart.properties(width=400, height=ROW_PX * len(names))


def _bar_rows(view: View) -> Rows:
    rows: Rows = []
    for i, panel in enumerate(view.panels):
        base, s = float(len(view.panels) - 1 - i), panel.starvation
        sides = ((ALONE, s.alone, 0.70), (WITH_SLOW, s.with_slow, 0.36)) if s else ()
        for name, estimate, top in sides:
            if estimate.value is not None:
                told = amount(estimate.value, "/s") + (f"  {name}" if i == 0 else "")
                rows.append({"series": name, "text": told, **_bar(estimate, base + top, 0.3)})
    return rows


def _bar(estimate: Estimate, top: float, thick: float) -> dict[str, Any]:
    """Where a bar and its interval stand; `end` is where its label begins."""
    value = estimate.value or 0.0
    place = {"top": top, "bottom": top - thick, "middle": top - thick / 2}
    return {"x": value, "low": estimate.low, "high": estimate.high, "end": estimate.high or value, **place}


def _bar_layers(data: Datasets, rows: Rows, x: alt.X, names: list[str], hue: Any) -> Any:
    scale = alt.Scale(domain=[0, len(names)], nice=False)
    middle, bottom = (alt.Y(f"{edge}:Q", scale=scale, axis=None) for edge in ("middle", "bottom"))
    source = data(rows)
    label = alt.Chart(source).mark_text(align="left", dx=6, fontSize=11)
    return alt.layer(
        alt.Chart(source)
        .mark_bar(opacity=0.85)
        .encode(x=x, x2=alt.X2Datum(0), y=bottom, y2="top:Q", color=hue),
        alt.Chart(source)
        .mark_rule(color=INK, strokeWidth=1.5)
        .encode(x=alt.X("low:Q"), x2="high:Q", y=middle),
        label.encode(x=alt.X("end:Q"), y=middle, text="text:N"),
        _names(data, names),
    )


def _rate_axis(end: float, title: str) -> alt.X:
    axis = alt.Axis(title=title, tickCount=4, tickSize=0, labelPadding=6, format="~s")
    return alt.X("x:Q", scale=alt.Scale(domain=[0, end or 1.0], nice=False), axis=axis)


def _names(data: Datasets, names: list[str]) -> Any:
    """Each contestant's name at the top of its row."""
    scale = alt.Scale(domain=[0, len(names)], nice=False)
    rows: Rows = [{"y": len(names) - i - 0.05, "text": short(name)} for i, name in enumerate(names)]
    text = alt.Chart(data(rows)).mark_text(align="left", baseline="top", fontWeight="bold")
    return text.encode(x=alt.value(2), y=alt.Y("y:Q", scale=scale, axis=None), text="text:N")


def _kept(data: Datasets, view: View) -> Any:
    dots, diamonds = _kept_rows(view)
    highest = max([1.0, *(d["high"] or d["x"] for d in dots)])
    axis = alt.Axis(
        title="share of throughput kept beside the slow request",
        values=[0, 0.25, 0.5, 0.75, 1],
        format=".0%",
        tickSize=0,
        labelPadding=6,
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, max(1.08, highest * 1.02)], nice=False), axis=axis)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[0, len(view.panels)], nice=False), axis=None)
    source, told = data(dots), alt.Chart(data(diamonds))
    interval = alt.Chart(source).mark_rule(color=SECOND, strokeWidth=2.5)
    dot = alt.Chart(source).mark_point(filled=True, size=70, color=SECOND, stroke=SURFACE, opacity=1)
    chart = alt.layer(
        alt.Chart(data([{"y": d["y"]} for d in dots])).mark_rule(color=GRID).encode(y=y),
        told.mark_point(shape="diamond", size=110, color=MUTED, strokeWidth=1.5).encode(x=x, y=y),
        told.mark_text(dy=16, fontSize=11, color=MUTED).encode(x=x, y=y, text="text:N"),
        interval.encode(x=alt.X("low:Q"), x2="high:Q", y=y),
        dot.encode(x=x, y=y),
        alt.Chart(source).mark_text(dy=-13, fontSize=11).encode(x=x, y=y, text="text:N"),
        _names(data, [p.contestant for p in view.panels]),
    )
    return chart.properties(width=330, height=ROW_PX * len(view.panels))


def _kept_rows(view: View) -> tuple[Rows, Rows]:
    """(measured, published)."""
    dots: Rows = []
    diamonds: Rows = []
    for i, panel in enumerate(view.panels):
        y, s = len(view.panels) - 1 - i + 0.40, panel.starvation
        if s is None:
            continue
        if s.index.value is not None:
            kept, low, high = (
                None if e is None else 1 - e for e in (s.index.value, s.index.high, s.index.low)
            )
            dots.append({"x": kept, "low": low, "high": high, "y": y, "text": percent(max(kept or 0.0, 0.0))})
        before, after = published_per_s(s.published_alone), published_per_s(s.published_with)
        if before and after is not None:
            diamonds.append({"x": after / before, "y": y, "text": f"published {percent(after / before)}"})
    return dots, diamonds


def completed(view: View, summaries: list[WorkloadSummary]) -> Picture:
    """A bar and its interval per contestant, for workloads without a slow request."""
    data = Datasets()
    rows: Rows = [
        {"text": str(formatted(c.throughput)), **_bar(c.throughput, len(summaries) - i - 0.45, 0.45)}
        for i, c in enumerate(summaries)
        if c.throughput.value is not None
    ]
    x = _rate_axis(max((r["end"] for r in rows), default=1.0) * 1.4, "requests per second")
    chart = _bar_layers(data, rows, x, [c.contestant for c in summaries], alt.value(FIRST))
    chart = chart.properties(width=820, height=54 * len(summaries))
    table = tables.Table(f"Throughput: {view.title}", ["contestant", "throughput"])
    for c in summaries:
        table.add(c.contestant, formatted(c.throughput))
    reading = "Requests completed as expected, per second; the line is the 95 % interval over rounds."
    return Picture(f"throughput-{view.key}", _most(summaries), reading, whole(chart), table, data.rows)


def _most(summaries: list[WorkloadSummary]) -> str:
    ranked = sorted((c.throughput.value or 0.0, c.contestant) for c in summaries)
    (least, last), (most, first) = ranked[0], ranked[-1]
    if len(ranked) == 1:
        return f"{first} completes {amount(most, '/s')}."
    return f"{first} completes {amount(most, '/s')}, {last} {amount(least, '/s')}."
