"""Pictures of response times, a row per contestant on one logarithmic axis: density, and letter values."""

import math
from typing import Any, Literal

import altair as alt

from jostle.formatting import amount
from jostle.report.charts.common import (
    BY_COLOUR,
    GRID,
    MUTED,
    SURFACE,
    Datasets,
    Picture,
    Rows,
    at_least,
    axis_title,
    colour,
    limits,
    short,
    thin,
    time_axis,
    time_scale,
    whole,
)
from jostle.report.charts.titles import about_quantile, about_shape
from jostle.report.tables import quantiles
from jostle.report.views import Series, View

__all__ = ["density", "letter_values"]

HILL = 0.74  # of a row's height
THICKEST_PX = 18.0  # the box that holds the middle half


def density(view: View, points: int) -> Picture:
    """Density per e-fold of time, each row to its own height; a dot at the longest; strokes for a few."""
    data = Datasets()
    count = len(view.panels)
    low, high = limits(view)
    x = alt.X("x:Q", scale=time_scale(low, high), axis=time_axis(low, high, axis_title(view)))
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.25, count], nice=False), axis=None)
    hue = colour(view)
    hills, strokes, dots, notes = _density_rows(view, points)
    names = [
        {"x": low / 1.25, "y": count - i - 0.03, "text": short(p.contestant)}
        for i, p in enumerate(view.panels)
    ]
    area = alt.Chart(data(hills)).mark_area(
        fillOpacity=0.32, line={"strokeWidth": 1.5}, interpolate="monotone"
    )
    rug = alt.Chart(data(strokes)).mark_rule(strokeWidth=1.2, opacity=0.7)
    dot = alt.Chart(data(dots)).mark_point(filled=True, size=36, opacity=1)
    name = alt.Chart(data(names)).mark_text(align="left", baseline="top", fontWeight="bold")
    chart = alt.layer(
        alt.Chart(data([{"y": float(i)} for i in range(count)])).mark_rule(color=GRID).encode(y=y),
        area.encode(x=x, y=y, y2="base:Q", color=hue, detail="key:N"),
        rug.encode(x=x, y=y, y2="y2:Q", color=hue),
        dot.encode(x=x, y=y, color=hue),
        *_beside_dots(data, notes, x, y, middle=math.sqrt(low * high)),
        *_series_names(data, view, x, y, hue),
        name.encode(x=x, y=y, text="text:N"),
    ).properties(width=820, height=max(130, 84 * count))
    reading = (
        (BY_COLOUR if view.paired else "")
        + "The higher the hill, the more requests took about that time. The dot is the longest answered one;"
        " where there are fewer than 50 requests, each is a stroke."
    )
    key = f"density-{view.key}"
    return Picture(key, about_shape(view), reading, whole(chart), quantiles(view), data.rows)


def _density_rows(view: View, points: int) -> tuple[Rows, Rows, Rows, Rows]:
    """(hills, strokes, dots, notes at dots)."""
    hills: Rows = []
    strokes: Rows = []
    dots: Rows = []
    notes: Rows = []
    for i, panel in enumerate(view.panels):
        base, peak = float(len(view.panels) - 1 - i), _peak(panel.series)
        for s in panel.series:
            shape, about = s.distribution, {"base": base, "series": s.name, "key": f"{i}-{s.name}"}
            curve = thin(
                list(zip(shape.density_x_s, shape.density, strict=True)) if shape.density else [], points
            )
            hills += [{"x": at_least(x), "y": base + HILL * d / peak, **about} for x, d in curve]
            strokes += [
                {"x": at_least(v), "y": base, "y2": base + 0.2, "series": s.name} for v in _strokes(s)
            ]
            if shape.max_s is not None:
                dots.append({"x": at_least(shape.max_s), "y": base, "series": s.name})
        longest = max((at_least(s.distribution.max_s or 0.0) for s in panel.series), default=None)
        if longest is not None:
            notes.append({"x": longest, "y": base, "text": f"longest {amount(longest, 's')}"})
    return hills, strokes, dots, notes


def _strokes(s: Series) -> list[float]:
    """The times to draw one by one: where there is no density, all of few, or the one that all share."""
    shape = s.distribution
    if shape.density:
        return []
    return shape.values_s or ([shape.min_s] if shape.min_s is not None else [])


def _peak(series: list[Series]) -> float:
    return max((d for s in series for d in s.distribution.density), default=1.0) or 1.0


def _beside_dots(data: Datasets, notes: Rows, x: alt.X, y: alt.Y, *, middle: float) -> list[Any]:
    """Notes at dots: to the right of those in the left half, to the left of the others."""
    return [
        _text(
            data, [n for n in notes if n["x"] < middle], "left", dx=8, dy=10, fontSize=11, color=MUTED
        ).encode(x=x, y=y, text="text:N"),
        _text(
            data, [n for n in notes if n["x"] >= middle], "right", dx=-8, dy=10, fontSize=11, color=MUTED
        ).encode(x=x, y=y, text="text:N"),
    ]


def _series_names(data: Datasets, view: View, x: alt.X, y: alt.Y, hue: alt.Color) -> list[Any]:
    """The names of the series at their hills in the first row: the left hill's name to its left."""
    if not view.paired:
        return []
    top, peak = view.panels[0], _peak(view.panels[0].series)
    hills = []
    for s in top.series:
        shape = s.distribution
        if shape.density:
            height, at = max(zip(shape.density, shape.density_x_s, strict=True))
            hills.append((at_least(at), len(view.panels) - 1 + HILL * height / peak, s.name))
    layers = []
    low, high = limits(view)
    for i, (at, height, name) in enumerate(sorted(hills)):
        row = [{"x": at, "y": height, "series": name, "text": name}]
        if math.log(at / low) > 0.8 * math.log(high / low):  # no room to the right: above the hill
            text = _text(data, row, "right", dx=8, dy=-10, fontWeight="bold")
        elif i == 0 and len(hills) > 1:
            text = _text(data, row, "right", dx=-7, fontWeight="bold")
        else:
            text = _text(data, row, "left", dx=7, fontWeight="bold")
        layers.append(text.encode(x=x, y=y, color=hue, text="text:N"))
    return layers


def _text(data: Datasets, rows: Rows, align: Literal["left", "right"], **style: Any) -> Any:
    return alt.Chart(data(rows)).mark_text(align=align, baseline="middle", **style)


def letter_values(view: View) -> Picture:
    """Nested boxes: each is half as full as the one inside it; as deep as the sample can bear."""
    data = Datasets()
    low, high = limits(view)
    per_row = max(len(p.series) for p in view.panels)
    pitch = per_row + 1.0  # a line for the name, and one for each series
    boxes, medians, dots = _letter_rows(view, pitch)
    names = [
        {"x": low / 1.25, "y": (len(view.panels) - i) * pitch - 0.35, "text": short(p.contestant)}
        for i, p in enumerate(view.panels)
    ]
    x = alt.X("x:Q", scale=time_scale(low, high), axis=time_axis(low, high, axis_title(view)))
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-0.3, len(view.panels) * pitch + 0.1], nice=False), axis=None)
    hue = colour(view)
    fading = alt.Scale(domain=[2, 9], range=[0.95, 0.4], clamp=True)
    opacity = alt.StrokeOpacity("depth:Q", scale=fading, legend=None)
    thickness = alt.StrokeWidth("thick:Q", scale=None, legend=None)
    box = alt.Chart(data(boxes)).mark_rule()
    median = alt.Chart(data(medians)).mark_tick(
        orient="vertical", size=THICKEST_PX, thickness=2, color=SURFACE
    )
    chart = alt.layer(
        box.encode(x=x, x2="upper:Q", y=y, color=hue, strokeWidth=thickness, strokeOpacity=opacity),
        median.encode(x=x, y=y),
        alt.Chart(data(dots)).mark_point(filled=True, size=30, opacity=1).encode(x=x, y=y, color=hue),
        _text(data, names, "left", fontWeight="bold").encode(x=x, y=y, text="text:N"),
    ).properties(width=820, height=max(110, len(view.panels) * (26 * per_row + 24)))
    reading = (
        (BY_COLOUR if view.paired else "")
        + "The gap is the median, the thickest box holds the middle half, each thinner one half of what is"
        " left; the dot is the longest answered one."
    )
    title = about_quantile(view, "p90", "ninth-decile response time (p90)")
    return Picture(f"letters-{view.key}", title, reading, whole(chart), quantiles(view), data.rows)


def _letter_rows(view: View, pitch: float) -> tuple[Rows, Rows, Rows]:
    """(boxes, outermost first; medians; dots)."""
    boxes: Rows = []
    medians: Rows = []
    dots: Rows = []
    for i, panel in enumerate(view.panels):
        for j, s in enumerate(panel.series):
            shape, y = s.distribution, (len(view.panels) - i) * pitch - 1.1 - j
            for depth, low, high in zip(
                shape.letter_depth, shape.letter_low_s, shape.letter_high_s, strict=True
            ):
                row = {"x": at_least(low), "upper": at_least(high), "y": y, "series": s.name, "depth": depth}
                thick = max(2.0, THICKEST_PX * 0.72 ** (depth - 2))
                (medians if depth == 1 else boxes).append({**row, "thick": thick})
            if shape.max_s is not None:
                dots.append({"x": at_least(shape.max_s), "y": y, "series": s.name})
    return sorted(boxes, key=lambda b: -b["depth"]), medians, dots
