"""Pictures of the tail, a panel per contestant: the share that takes longer; quantiles in nines."""

import math
from typing import Any

import altair as alt

from jostle.report.charts.common import (
    BY_COLOUR,
    FIRST,
    MUTED,
    TIME_LABEL,
    Datasets,
    Picture,
    Rows,
    at_least,
    colour,
    decades,
    in_panels,
    limits,
    short,
    thin,
    time_axis,
    time_scale,
    whole,
)
from jostle.report.charts.titles import about_quantile
from jostle.report.tables import quantiles
from jostle.report.views import View

__all__ = ["nines", "survival"]

LONGEST_NAME = 34
NARROWEST_PX = 250
SHARE_LABEL = "datum.value > 0.99 ? 'all' : '1 in ' + format(1 / datum.value, ',.0f')"
NINES_LABEL = (
    "datum.value == 0 ? '0' : format(1 - pow(10, -datum.value), '.' + max(0, datum.value - 2) + '%')"
)


def survival(view: View, points: int) -> Picture:
    """The share of requests that takes longer than x (CCDF), both axes logarithmic."""
    rows: Rows = [
        {"panel": panel, "series": name, "x": seconds, "y": 1 - p}
        for panel, name, p, seconds in _curves(view, points)
    ]
    low, high = limits(view)
    rarest = min((r["y"] for r in rows), default=0.1)
    steps = [10.0**-e for e in range(math.ceil(-math.log10(rarest)) + 1)]
    x = alt.X("x:Q", scale=time_scale(low, high), axis=time_axis(low, high, None))
    y = alt.Y(
        "y:Q",
        scale=alt.Scale(type="log", domain=[steps[-1], 1.0], nice=False),
        axis=_y_axis(values=steps, labelExpr=SHARE_LABEL),
    )
    data = Datasets()
    chart = _lines(data, view, rows, x, y, interpolate="step-before")
    reading = (
        (BY_COLOUR if view.paired else "")
        + "Height: the share of requests that takes longer than the time below. A flat stretch far to the"
        " right is a crowd that waits; both axes are logarithmic."
    )
    title = about_quantile(view, "p99", "time that one request in a hundred exceeds")
    return _picture("survival", view, title, reading, chart, data)


def nines(view: View, points: int) -> Picture:
    """Response time over the quantile, on an axis that runs 0, 90 %, 99 %, 99.9 %."""
    rows: Rows = [
        {"panel": panel, "series": name, "x": -math.log10(1 - p), "y": seconds}
        for panel, name, p, seconds in _curves(view, points)
    ]
    low, high = limits(view)
    most = max((r["x"] for r in rows), default=1.0)
    axis = alt.Axis(
        values=list(range(int(most) + 1)), labelExpr=NINES_LABEL, title=None, tickSize=0, labelPadding=6
    )
    x = alt.X("x:Q", scale=alt.Scale(domain=[0, math.ceil(most * 10) / 10], nice=False), axis=axis)
    y_axis = _y_axis(values=decades(low, high), labelExpr=TIME_LABEL)
    y = alt.Y("y:Q", scale=time_scale(low, high), axis=y_axis)
    data = Datasets()
    chart = _lines(data, view, rows, x, y)
    reading = (
        (BY_COLOUR if view.paired else "")
        + "Height: the response time that the share of requests below does not exceed; each step to the right"
        " is ten times rarer."
    )
    title = about_quantile(view, "p99.9", "99.9th percentile of response time")
    return _picture("nines", view, title, reading, chart, data)


def _picture(kind: str, view: View, title: str, reading: str, chart: Any, data: Datasets) -> Picture:
    styled = whole(chart, narrowest=NARROWEST_PX)
    return Picture(f"{kind}-{view.key}", title, reading, styled, quantiles(view), data.rows)


def _curves(view: View, points: int) -> list[tuple[str, str, float, float]]:
    """(panel, series, p, seconds) of all series, each thinned; p = 1 has no place on a logarithmic axis."""
    found = []
    for panel in view.panels:
        for s in panel.series:
            d = s.distribution
            curve = [(p, t) for p, t in zip(d.quantile_p, d.quantile_s, strict=True) if p < 1]
            name = short(panel.contestant, LONGEST_NAME)
            found += [(name, s.name, p, at_least(t)) for p, t in thin(curve, points)]
    return found


def _y_axis(**more: Any) -> alt.Axis:
    return alt.Axis(title=None, tickSize=0, minExtent=64, maxExtent=64, **more)


def _lines(data: Datasets, view: View, rows: Rows, x: alt.X, y: alt.Y, **mark: Any) -> Any:
    """Lines in panels; without pairs, the other contestants' lines stand faint behind each."""
    layers: list[Any] = []
    front = alt.Chart().mark_line(color=FIRST, **mark).encode(x=x, y=y)
    if view.paired:
        front = front.encode(color=colour(view))
    elif len(view.panels) > 1:
        others = data([{**r, "other": r["panel"]} for r in rows])
        faint = alt.Chart(others).mark_line(color=MUTED, opacity=0.35, strokeWidth=1, **mark)
        layers.append(faint.encode(x=x, y=y, detail="other:N"))
    order = [short(p.contestant, LONGEST_NAME) for p in view.panels]
    return in_panels([*layers, front], data(rows), order, width=230, height=170)
