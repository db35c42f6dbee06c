"""Pictures of response times: density, letter values, share that takes longer, quantiles on an axis of nines."""

import math
from typing import Any

import altair as alt

from jostle.report.charts.common import (
    FIRST,
    GRID,
    MUTED,
    SMALLEST_S,
    SURFACE,
    TIME_LABEL,
    Datasets,
    Picture,
    colour,
    decades,
    in_panels,
    short,
    thin,
    time_axis,
    time_scale,
    whole,
)
from jostle.report.charts.titles import about_quantile, about_shape
from jostle.report.tables import quantiles
from jostle.report.text import amount
from jostle.report.views import View

__all__ = ["density", "letter_values", "nines", "survival"]

RESPONSE = "response time of a fast request (logarithmic)"
BY_COLOUR = "Blue: fast requests alone; vermilion: beside one slow request. "


def density(view: View, points: int) -> Picture:
    """A row per contestant: density per e-fold of time, each row to its own height; a dot at the longest."""
    count = len(view.panels)
    data = Datasets()
    low, high = _range(view)
    areas: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    rugs: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    for i, panel in enumerate(view.panels):
        base = float(count - 1 - i)
        names.append({"x": low / 1.25, "y": base + 0.97, "text": short(panel.contestant)})
        peak = max((d for s in panel.series for d in s.distribution.density), default=1.0) or 1.0
        for s in panel.series:
            shape = s.distribution
            curve = thin(list(zip(shape.density_x_s, shape.density, strict=True)), points)
            key = f"{i}-{s.name}"
            areas += [
                {"x": max(x, SMALLEST_S), "y": base + 0.74 * d / peak, "base": base, "series": s.name, "key": key}
                for x, d in curve
            ]
            rugs += [{"x": max(x, SMALLEST_S), "y": base, "y2": base + 0.2, "series": s.name} for x in shape.values_s]
            if shape.max_s is not None:
                marks.append({"x": max(shape.max_s, SMALLEST_S), "y": base, "series": s.name})
        longest = max(s.distribution.max_s or SMALLEST_S for s in panel.series)
        told.append({"x": longest, "y": base, "text": f"longest {amount(longest, 's')}"})
    x = alt.X("x:Q", scale=time_scale(low, high), axis=time_axis(low, high, _axis_title(view)))
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.08, count], nice=False), axis=None)
    hue = colour(view)
    layers = [
        alt.Chart(data([{"y": float(i)} for i in range(count)])).mark_rule(color=GRID).encode(y=y),
        alt.Chart(data(areas))
        .mark_area(fillOpacity=0.32, line={"strokeWidth": 1.5}, interpolate="monotone")
        .encode(x=x, y=y, y2="base:Q", color=hue, detail="key:N"),
        alt.Chart(data(rugs)).mark_rule(strokeWidth=1.2, opacity=0.7).encode(x=x, y=y, y2="y2:Q", color=hue),
        alt.Chart(data(marks)).mark_point(filled=True, size=36, opacity=1).encode(x=x, y=y, color=hue),
        *(_beside_dots(data, told, x, y, middle=math.sqrt(low * high))),
        *_first_row_labels(data, view, x, y, hue),
        alt.Chart(data(names)).mark_text(align="left", baseline="top", fontWeight="bold").encode(x=x, y=y, text="text:N"),
    ]
    chart = alt.layer(*layers).properties(width=820, height=max(130, 84 * count))
    reading = (
        (BY_COLOUR if view.paired else "")
        + "The higher the hill, the more requests took about that time. The dot is the longest one; fewer than"
        " 50 requests are single strokes."
    )
    return Picture(f"density-{view.key}", about_shape(view), reading, whole(chart), quantiles(view), data.rows)


def _beside_dots(
    data: Datasets, told: list[dict[str, Any]], x: alt.X, y: alt.Y, *, middle: float
) -> list[alt.Chart]:
    """Notes at dots: to the right of those in the left half, to the left of the others."""
    notes = []
    for align, dx, rows in (
        ("left", 8, [t for t in told if t["x"] < middle]),
        ("right", -8, [t for t in told if t["x"] >= middle]),
    ):
        text = alt.Chart(data(rows)).mark_text(align=align, dx=dx, dy=-9, fontSize=11, color=MUTED)
        notes.append(text.encode(x=x, y=y, text="text:N"))
    return notes


def _first_row_labels(data: Datasets, view: View, x: alt.X, y: alt.Y, hue: alt.Color) -> list[alt.Chart]:
    """The names of the series, written at their hills in the first row: the left hill's name to its left."""
    if not view.paired:
        return []
    top = view.panels[0]
    peak = max((d for s in top.series for d in s.distribution.density), default=1.0) or 1.0
    found = []
    for s in top.series:
        shape = s.distribution
        if shape.density:
            height, at = max(zip(shape.density, shape.density_x_s, strict=True))
            found.append((at, len(view.panels) - 1 + 0.74 * height / peak, s.name))
    layers = []
    for i, (at, height, name) in enumerate(sorted(found)):
        left = i == 0 and len(found) > 1
        row = [{"x": max(at, SMALLEST_S), "y": height, "series": name, "text": name}]
        text = alt.Chart(data(row)).mark_text(
            align="right" if left else "left", dx=-7 if left else 7, baseline="middle", fontWeight="bold"
        )
        layers.append(text.encode(x=x, y=y, color=hue, text="text:N"))
    return layers


def letter_values(view: View) -> Picture:
    """Nested boxes: each is half as full as the one inside it; as deep as the sample can bear."""
    data = Datasets()
    low, high = _range(view)
    boxes: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    per_row = max(len(p.series) for p in view.panels)
    pitch = per_row + 1.0
    for i, panel in enumerate(view.panels):
        top = (len(view.panels) - i) * pitch
        names.append({"x": low / 1.25, "y": top - 0.35, "text": short(panel.contestant)})
        for j, s in enumerate(panel.series):
            y, shape = top - 1.1 - j, s.distribution
            for depth, a, b in zip(shape.letter_depth, shape.letter_low_s, shape.letter_high_s, strict=True):
                where = {"y": y, "series": s.name, "lower": max(a, SMALLEST_S), "upper": max(b, SMALLEST_S)}
                if depth == 1:
                    points.append({**where, "kind": "median"})
                else:
                    boxes.append({**where, "thick": max(2.0, 18 * 0.72 ** (depth - 2)), "depth": depth})
            if shape.max_s is not None:
                points.append({"y": y, "series": s.name, "lower": max(shape.max_s, SMALLEST_S), "kind": "longest"})
    boxes.sort(key=lambda b: -b["depth"])
    x = alt.X("lower:Q", scale=time_scale(low, high), axis=time_axis(low, high, _axis_title(view)))
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.3, len(view.panels) * pitch + 0.1], nice=False), axis=None)
    hue = colour(view)
    thick = alt.StrokeWidth("thick:Q", scale=None, legend=None)
    fade = alt.StrokeOpacity("depth:Q", scale=alt.Scale(domain=[2, 9], range=[0.95, 0.4], clamp=True), legend=None)
    kind = alt.datum.kind
    layers = [
        alt.Chart(data(boxes)).mark_rule().encode(x=x, x2="upper:Q", y=y, color=hue, strokeWidth=thick, strokeOpacity=fade),
        alt.Chart(data(points)).transform_filter(kind == "median").mark_tick(
            orient="vertical", size=18, thickness=2, color=SURFACE
        ).encode(x=x, y=y),
        alt.Chart(data(points)).transform_filter(kind == "longest").mark_point(filled=True, size=30).encode(
            x=x, y=y, color=hue
        ),
        alt.Chart(data([{**n, "lower": n.pop("x")} for n in names])).mark_text(
            align="left", baseline="middle", fontWeight="bold"
        ).encode(x=x, y=y, text="text:N"),
    ]
    chart = alt.layer(*layers).properties(width=820, height=max(110, len(view.panels) * (26 * per_row + 24)))
    reading = (
        (BY_COLOUR if view.paired else "")
        + "The gap is the median, the thickest box holds the middle half, each thinner one half of what is left;"
        " the dot is the longest."
    )
    title = about_quantile(view, "p90", "ninth-decile response time (p90)")
    return Picture(f"letters-{view.key}", title, reading, whole(chart), quantiles(view), data.rows)


def survival(view: View, points: int) -> Picture:
    """The share of requests that takes longer than x, both axes logarithmic: a panel per contestant."""
    rows = [
        {"panel": short(p.contestant, 34), "x": max(t, SMALLEST_S), "y": 1 - q, "series": s.name}
        for p in view.panels
        for s in p.series
        for q, t in thin(_curve(s.distribution.quantile_p, s.distribution.quantile_s), points)
    ]
    low, high = _range(view)
    fewest = min((r["y"] for r in rows), default=0.1)
    steps = [10.0**-e for e in range(0, math.ceil(-math.log10(fewest)) + 1)]
    x = alt.X("x:Q", scale=time_scale(low, high), axis=_panel_time_axis(low, high))
    label = "datum.value > 0.99 ? 'all' : '1 in ' + format(1 / datum.value, ',.0f')"
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(type="log", domain=[steps[-1], 1.0], nice=False),
        axis=alt.Axis(values=steps, labelExpr=label, title=None, tickSize=0, minExtent=64, maxExtent=64),
    )
    data = Datasets()
    chart = _lines(data, view, rows, x, y, interpolate="step-before")
    reading = (
        (BY_COLOUR if view.paired else "")
        + "Height: the share of requests that takes longer than the time below. A flat stretch far to the right"
        " is a crowd that waits; both axes are logarithmic."
    )
    title = about_quantile(view, "p99", "time that one request in a hundred exceeds")
    return Picture(f"survival-{view.key}", title, reading, whole(chart, narrowest=250), quantiles(view), data.rows)


def nines(view: View, points: int) -> Picture:
    """Response time over the quantile, which runs 0, 90 %, 99 %, 99.9 %: a panel per contestant."""
    rows = [
        {"panel": short(p.contestant, 34), "x": -math.log10(1 - q), "y": max(t, SMALLEST_S), "series": s.name}
        for p in view.panels
        for s in p.series
        for q, t in thin(_curve(s.distribution.quantile_p, s.distribution.quantile_s), points)
    ]
    low, high = _range(view)
    most = max((r["x"] for r in rows), default=1.0)
    label = "datum.value == 0 ? '0' : format(1 - pow(10, -datum.value), '.' + max(0, datum.value - 2) + '%')"
    x = alt.X(
        "x:Q",
        scale=alt.Scale(domain=[0, math.ceil(most * 10) / 10], nice=False),
        axis=alt.Axis(values=list(range(0, int(most) + 1)), labelExpr=label, title=None, tickSize=0, labelPadding=6),
    )
    y = alt.Y(
        "y:Q",
        scale=time_scale(low, high),
        axis=alt.Axis(
            values=decades(low, high), labelExpr=TIME_LABEL, title=None, tickSize=0, minExtent=64, maxExtent=64
        ),
    )
    data = Datasets()
    chart = _lines(data, view, rows, x, y)
    reading = (
        (BY_COLOUR if view.paired else "")
        + "Height: the response time that the share of requests below does not exceed; each step to the right is"
        " ten times rarer."
    )
    title = about_quantile(view, "p99.9", "99.9th percentile of response time")
    return Picture(f"nines-{view.key}", title, reading, whole(chart, narrowest=250), quantiles(view), data.rows)


def _lines(data: Datasets, view: View, rows: list[dict[str, Any]], x: alt.X, y: alt.Y, **mark: Any) -> Any:
    """Lines in panels; without pairs, the other contestants' lines stand faint behind each."""
    layers = []
    if not view.paired and len(view.panels) > 1:
        others = data([{**r, "other": r["panel"]} for r in rows])
        faint = alt.Chart(others).mark_line(color=MUTED, opacity=0.35, strokeWidth=1, **mark)
        layers.append(faint.encode(x=x, y=y, detail="other:N"))
    front = alt.Chart().mark_line(**({} if view.paired else {"color": FIRST}), **mark)
    front = front.encode(x=x, y=y, **({"color": colour(view)} if view.paired else {}))
    order = [short(p.contestant, 34) for p in view.panels]
    return in_panels([*layers, front], data(rows), order, width=230, height=170)


def _panel_time_axis(low: float, high: float) -> alt.Axis:
    return alt.Axis(values=decades(low, high), labelExpr=TIME_LABEL, title=None, tickSize=0, labelPadding=6)


def _curve(p: list[float], seconds: list[float]) -> list[tuple[float, float]]:
    return [(q, t) for q, t in zip(p, seconds, strict=True) if q < 1]


def _range(view: View) -> tuple[float, float]:
    """The shortest and the longest time of the view, in seconds, apart enough for an axis."""
    lows = [s.distribution.min_s for p in view.panels for s in p.series if s.distribution.min_s is not None]
    highs = [s.distribution.max_s for p in view.panels for s in p.series if s.distribution.max_s is not None]
    low = max(min(lows, default=1e-3), SMALLEST_S)
    return low, max(max(highs, default=1.0), low * 4)


def _axis_title(view: View) -> str:
    return RESPONSE if view.paired else "response time (logarithmic)"


