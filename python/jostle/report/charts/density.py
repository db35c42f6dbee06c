"""How response times are distributed: a density per series on one logarithmic axis, and the share without a
right response.
"""

from jostle.formatting import amount
from jostle.report.charts.axes import TimeAxis, at_least
from jostle.report.charts.colours import BY_STRENGTH, of_contestants, strength
from jostle.report.charts.picture import (
    GRID,
    MUTED,
    Datasets,
    Picture,
    Rows,
    Spec,
    layer,
    quantitative,
    short,
    thin,
)
from jostle.report.charts.tables import quantile_table
from jostle.report.charts.titles import about_quantile
from jostle.report.views import Panel, Series, View

__all__ = ["density"]

HILL = 0.70  # of a row's height
TICK = 0.2


def density(view: View, points: int) -> Picture:
    """Density per e-fold of time, scaled separately in each row; the area is the share that was answered as
    expected.
    """
    data = Datasets()
    axis, count = TimeAxis.of(view), len(view.panels)
    x = quantitative("x", scale=axis.scale, axis=axis.axis())
    bare = {"title": "share of requests", "labels": False, "grid": False, "domain": False}
    y = quantitative("y", scale={"domain": [-0.25, count], "nice": False}, axis=bare)
    hue = {"color": of_contestants(view.order, [p.contestant for p in view.panels]), **strength(view)}
    rows = [_panel(panel, float(count - 1 - i), axis, points) for i, panel in enumerate(view.panels)]
    hills, ticks, dots, blocks, notes = (
        [row for part in parts for row in part] for parts in zip(*rows, strict=True)
    )
    names = [
        {"x": axis.start, "y": count - i - 0.03, "text": short(p.contestant)}
        for i, p in enumerate(view.panels)
    ]
    area = {"fillOpacity": 0.32, "line": {"strokeWidth": 1.5}, "interpolate": "monotone"}
    layers = [
        layer(data([{"y": float(i)} for i in range(count)]), "rule", {"color": GRID}, y=y),
        layer(data(hills), "area", area, x=x, y=y, y2={"field": "base"}, **hue, detail={"field": "key"}),
        layer(data(ticks), "rule", {"strokeWidth": 1.2}, x=x, y=y, y2={"field": "y2"}, **hue),
        layer(data(dots), "point", {"filled": True, "size": 36}, x=x, y=y, **hue),
        layer(
            data(notes),
            "text",
            {"align": "right", "dy": 11, "fontSize": 11, "color": MUTED},
            x=x,
            y=y,
            text={"field": "text"},
        ),
        layer(
            data(names),
            "text",
            {"align": "left", "baseline": "top", "fontWeight": "bold"},
            x=x,
            y=y,
            text={"field": "text"},
        ),
        *_blocks(data, blocks, x, y, hue),
    ]
    reading = (
        (BY_STRENGTH if view.paired else "")
        + "Density of the response times; the area is the share of requests that was answered as expected. "
        "Dots: the longest response. Fewer than 50 requests are drawn as tick marks."
        + (
            " Boxes at the right edge: requests without a right response, as tall as their share."
            if blocks
            else ""
        )
    )
    body = {"layer": layers, "width": 820, "height": max(130, 84 * count)}
    return Picture(about_quantile(view, "p50"), reading, body, quantile_table([view]), data.rows)


def _panel(panel: Panel, base: float, axis: TimeAxis, points: int) -> tuple[Rows, Rows, Rows, Rows, Rows]:
    """(hills, tick marks, dots, blocks, notes) of one contestant."""
    peak = (
        max((d * (1 - s.unanswered) for s in panel.series for d in s.distribution.density), default=1.0)
        or 1.0
    )
    hills: Rows = []
    ticks: Rows = []
    dots: Rows = []
    blocks: Rows = []
    for s in panel.series:
        shape, answered = s.distribution, 1 - s.unanswered
        key = f"{base:g}-{s.name}"
        about = {"contestant": panel.contestant, "series": s.name}
        curve = thin(
            list(zip(shape.density_x_s, shape.density, strict=True)) if shape.density else [], points
        )
        hills += [
            {
                "x": at_least(x),
                "y": base + HILL * d * answered / peak,
                "base": base,
                "key": key,
                **about,
            }
            for x, d in curve
        ]
        ticks += [{"x": at_least(v), "y": base, "y2": base + TICK, **about} for v in _ticks(s)]
        if shape.max_s is not None:
            dots.append({"x": at_least(shape.max_s), "y": base, **about})
        if s.unanswered:
            row = {
                "x": axis.block,
                "x2": axis.end,
                "base": base,
                "y": base + 0.9 * s.unanswered,
                **about,
            }
            blocks.append({**row, "middle": (axis.block * axis.end) ** 0.5, "text": s.unanswered_label})
    longest = max(
        (at_least(s.distribution.max_s) for s in panel.series if s.distribution.max_s), default=None
    )
    notes = (
        []
        if longest is None
        else [{"x": longest, "y": base, "text": f"longest response {amount(longest, 's')}"}]
    )
    return hills, ticks, dots, blocks, notes


def _ticks(s: Series) -> list[float]:
    """The times to draw one by one if there is no density: all values, or the one that all requests share."""
    shape = s.distribution
    if shape.density:
        return []
    return shape.values_s or ([shape.min_s] if shape.min_s is not None else [])


def _blocks(data: Datasets, blocks: Rows, x: Spec, y: Spec, hue: Spec) -> list[Spec]:
    if not blocks:
        return []
    rows, corner = data(blocks), {"field": "x2"}
    middle = {**x, "field": "middle"}
    text = {"fontSize": 10, "baseline": "bottom", "dy": -2}
    return [
        layer(rows, "rect", {"fillOpacity": 0.5}, x=x, x2=corner, y=y, y2={"field": "base"}, **hue),
        layer(rows, "text", text, x=middle, y=y, text={"field": "text"}),
    ]
