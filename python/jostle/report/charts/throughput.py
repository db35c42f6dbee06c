"""Throughput alone and beside slow requests, with the share that is kept; or a bar per contestant."""

from collections.abc import Sequence
from dataclasses import replace

from jostle.analysis.results import Estimate, PublishedFigure, StarvationResult, WorkloadSummary
from jostle.analysis.results.published_figure import figure
from jostle.formatting import MISSING, amount, formatted, percent
from jostle.report.charts.colours import BY_STRENGTH, of_contestants, strength
from jostle.report.charts.intervals import DIAMOND, RING, intervals
from jostle.report.charts.picture import INK, Datasets, Picture, Rows, Spec, layer, quantitative, short
from jostle.report.charts.titles import about_throughput
from jostle.report.document import Table, columns
from jostle.report.views import ALONE, WITH_SLOW, View
from jostle.report.workload import published_per_s

__all__ = ["completed", "throughput"]

ROW_PX = 62
MIN_WIDTH_PX = 380


def throughput(view: View) -> Picture:
    """Two bars per contestant with intervals over rounds; beside them the share kept, also as published."""
    data = Datasets()
    names = [p.contestant for p in view.panels]
    rows, rounds = _bar_rows(view)
    hue = of_contestants(view.order, names)
    bars = _bars(
        data, rows, rounds, names, {"color": hue, **strength(view)}, "fast requests per second",
        room=1.32, published=[],
    )  # fmt: skip
    kept = {"layer": _kept(data, view, names, hue), "width": 330, "height": ROW_PX * len(names)}
    body = {"concat": [{**bars, "width": 400, "height": ROW_PX * len(names)}, kept], "columns": 2}
    published = any(p.starvation and p.starvation.published_with for p in view.panels)
    reading = (
        BY_STRENGTH
        + "Bars: fast requests served per second; the line is the 95 % interval over rounds. Dots: the "
        "share of its own throughput that each contestant keeps"
        + ("; hollow diamonds: as published." if published else ".")
    )
    return Picture(about_throughput(view), reading, body, _table(view), data.rows, MIN_WIDTH_PX)


def _table(view: View) -> Table:
    names = columns("contestant", "alone | with slow | share kept | as published")
    table = Table("Throughput alone and with a slow request", names)
    for panel in view.panels:
        if (s := panel.starvation) is not None:
            share = _published_share(s)
            published = "" if share is None else percent(share)
            kept = formatted(_share_kept(s.index))
            table.add(panel.contestant, formatted(s.alone), formatted(s.with_slow), kept, published)
    return table


def _share_kept(index: Estimate) -> Estimate:
    """What is left of the throughput if this share of it is lost."""
    value, low, high = (None if v is None else max(1 - v, 0.0) for v in (index.value, index.high, index.low))
    return replace(index, value=value, low=low, high=high, unit="share")


def _published_share(found: StarvationResult) -> float | None:
    """The published share of throughput kept; None if it was not published."""
    before, after = published_per_s(found.published_alone), published_per_s(found.published_with)
    return after / before if before and after is not None else None


def _bar_rows(view: View) -> tuple[Rows, Rows]:
    rows: Rows = []
    rounds: Rows = []
    for i, panel in enumerate(view.panels):
        base, s = float(len(view.panels) - 1 - i), panel.starvation
        sides = ((ALONE, s.alone, 0.70), (WITH_SLOW, s.with_slow, 0.36)) if s else ()
        for name, found, top in sides:
            if found.value is not None:
                text = amount(found.value, "/s") + (f"  {name}" if i == 0 else "")
                about = {"contestant": panel.contestant, "series": name, "text": text}
                rows.append({**about, **_bar(found, base + top, 0.3)})
                rounds += _rounds(found, base + top - 0.15)
    return rows, rounds


def _rounds(found: Estimate, middle: float) -> Rows:
    """The rounds behind an interval; empty if there is no interval."""
    return [{"x": value, "middle": middle} for value in found.rounds] if found.low is not None else []


def _bar(found: Estimate, top: float, thick: float) -> Spec:
    """The position of a bar and its interval; `end` is where its label begins."""
    value = found.value or 0.0
    place = {"top": top, "bottom": top - thick, "middle": top - thick / 2}
    return {"x": value, "low": found.low, "high": found.high, "end": found.high or value, **place}


def _bars(
    data: Datasets,
    rows: Rows,
    rounds: Rows,
    names: Sequence[str],
    hue: Spec,
    title: str,
    *,
    room: float,
    published: Rows,
) -> Spec:
    end = max([*(r["end"] for r in rows), *(r["x"] for r in published)], default=1.0) * room
    axis = {"title": title, "tickCount": 4, "format": ",~r" if end < 10_000 else "~s"}
    x = quantitative("x", scale={"domain": [0, end or 1.0], "nice": False}, axis=axis)
    middle, bottom = (quantitative(edge, scale=_y_scale(names), axis=None) for edge in ("middle", "bottom"))
    source = data(rows)
    label = {"align": "left", "dx": 6, "fontSize": 11}
    layers = [
        layer(source, "bar", {"opacity": 0.85}, x=x, x2={"datum": 0}, y=bottom, y2={"field": "top"}, **hue),
        layer(
            source,
            "rule",
            {"color": INK, "strokeWidth": 1.5},
            x={**x, "field": "low"},
            x2={"field": "high"},
            y=middle,
        ),
        *([layer(data(rounds), "point", {**RING, "color": INK}, x=x, y=middle)] if rounds else []),
        *([layer(data(published), "point", {**DIAMOND, "color": INK}, x=x, y=middle)] if published else []),
        layer(source, "text", label, x={**x, "field": "end"}, y=middle, text={"field": "text"}),
        _names(data, names),
    ]
    return {"layer": layers}


def _y_scale(names: Sequence[str]) -> Spec:
    return {"domain": [0, len(names)], "nice": False}


def _names(data: Datasets, names: Sequence[str]) -> Spec:
    """Each contestant's name at the top of its row."""
    rows: Rows = [{"y": len(names) - i - 0.05, "text": short(name)} for i, name in enumerate(names)]
    style = {"align": "left", "baseline": "top", "fontWeight": "bold"}
    y = quantitative("y", scale=_y_scale(names), axis=None)
    return layer(data(rows), "text", style, x={"value": 2}, y=y, text={"field": "text"})


def _kept(data: Datasets, view: View, names: Sequence[str], hue: Spec) -> list[Spec]:
    dots, diamonds, rounds = _kept_rows(view)
    highest = max([1.0, *(d["high"] or d["x"] for d in dots)])
    title = "share of throughput kept with the slow request"
    axis = {"title": title, "values": [0, 0.25, 0.5, 0.75, 1], "format": ".0%"}
    x = quantitative("x", scale={"domain": [0, max(1.08, highest * 1.02)], "nice": False}, axis=axis)
    y = quantitative("y", scale=_y_scale(names), axis=None)
    return [*intervals(data, dots, diamonds, rounds, x, y, hue), _names(data, names)]


def _kept_rows(view: View) -> tuple[Rows, Rows, Rows]:
    """(measured, published, rounds)."""
    rounds: Rows = []
    dots: Rows = []
    diamonds: Rows = []
    for i, panel in enumerate(view.panels):
        y, s = len(view.panels) - 1 - i + 0.40, panel.starvation
        if s is None:
            continue
        if s.index.value is not None:
            kept = 1 - s.index.value
            low, high = (None if e is None else 1 - e for e in (s.index.high, s.index.low))
            about = {"contestant": panel.contestant, "y": y, "text": percent(max(kept, 0.0))}
            dots.append({"x": kept, "low": low, "high": high, **about})
            if low is not None:
                rounds += [{"contestant": panel.contestant, "x": 1 - v, "y": y} for v in s.index.rounds]
        share = _published_share(s)
        if share is not None:
            diamonds.append({"x": share, "y": y, "text": f"published {percent(share)}"})
    return dots, diamonds, rounds


def completed(
    title: str,
    summaries: Sequence[WorkloadSummary],
    order: Sequence[str],
    published: Sequence[PublishedFigure] = (),
) -> Picture | None:
    """A bar with interval and published figure per contestant of one workload; None for a single bar."""
    if len(summaries) < 2:
        return None
    data = Datasets()
    rows: Rows = [
        {
            "contestant": c.contestant,
            "text": str(formatted(c.throughput)),
            **_bar(c.throughput, len(summaries) - i - 0.45, 0.45),
        }
        for i, c in enumerate(summaries)
        if c.throughput.value is not None
    ]
    rounds: Rows = []
    for i, c in enumerate(summaries):
        rounds += _rounds(c.throughput, len(summaries) - i - 0.675)
    names = [c.contestant for c in summaries]
    hue = {"color": of_contestants(order, names)}
    claimed = [figure(published, c.contestant, c.workload, "throughput") for c in summaries]
    theirs = [found.amount if found else None for found in claimed]
    marks: Rows = [{"x": v, "middle": len(names) - i - 0.675} for i, v in enumerate(theirs) if v is not None]
    bars = _bars(data, rows, rounds, names, hue, "requests per second", room=1.4, published=marks)
    table = Table(
        f"Throughput: {title}", columns("contestant", "throughput" + (" | as published" if marks else ""))
    )
    for c, v in zip(summaries, theirs, strict=True):
        beside = [MISSING if v is None else amount(v, "/s")] if marks else []
        table.add(c.contestant, formatted(c.throughput), *beside)
    reading = "Requests completed as expected, per second; the line is the 95 % interval over rounds." + (
        " Hollow diamonds: as published." if marks else ""
    )
    body = {**bars, "width": 820, "height": 54 * len(summaries)}
    return Picture(_fastest_and_slowest(summaries), reading, body, table, data.rows)


def _fastest_and_slowest(summaries: Sequence[WorkloadSummary]) -> str:
    ranked = sorted((c.throughput.value or 0.0, c.contestant) for c in summaries)
    (lowest, last), (highest, first) = ranked[0], ranked[-1]
    return f"{first} completes {amount(highest, '/s')}, {last} {amount(lowest, '/s')}."
