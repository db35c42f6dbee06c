"""Response time over the percentile of all requests, a panel per contestant, on an axis of nines."""

import math

from jostle.report.charts.axes import TIME_LABEL, TimeAxis, at_least, decades, time_scale
from jostle.report.charts.colours import BY_COLOUR, of_series
from jostle.report.charts.picture import (
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
from jostle.report.views import View

__all__ = ["percentiles"]

LONGEST_NAME = 34
NARROWEST_PX = 250
NINES_LABEL = (
    "datum.value == 0 ? 'min' : format(1 - pow(10, -datum.value), '.' + max(0, datum.value - 2) + '%')"
)


def percentiles(view: View, points: int) -> Picture:
    """A curve for each series; it ends where the rest of the requests had no answer, which is shaded."""
    data = Datasets()
    rows = _curves(view, points)
    axis = TimeAxis.of(view)
    most = max((r["x"] for r in rows), default=1.0)
    most = max(math.ceil(most * 10) / 10, 1.0)
    nines = {
        "values": list(range(int(most) + 1)),
        "labelExpr": NINES_LABEL,
        "title": "percentile of all requests",
    }
    x = quantitative("x", scale={"domain": [0, most], "nice": False}, axis=nines)
    times = {
        "values": decades(axis.start, axis.high * 1.5),
        "labelExpr": TIME_LABEL,
        "title": "response time",
    }
    y = quantitative(
        "y", scale=time_scale(axis.low, axis.high), axis={**times, "minExtent": 64, "maxExtent": 64}
    )
    layers: list[Spec] = []
    if not view.paired and len(view.panels) > 1:
        others = data([{**r, "other": r["panel"]} for r in rows])
        faint = {"opacity": 0.35, "strokeWidth": 1, "color": MUTED}
        layers.append(layer(others, "line", faint, x=x, y=y, detail={"field": "other"}))
    layers.append(_missing(x, most))
    layers.append(layer(None, "line", x=x, y=y, color=of_series(view)))
    order = [short(p.contestant, LONGEST_NAME) for p in view.panels]
    missing = [row for row in _ends(view) if row["from"] < most]
    body = _facets(data([*rows, *missing]), layers, order)
    reading = (
        (BY_COLOUR if view.paired else "")
        + "Height: the response time that the share of requests below does not exceed; each step to the "
        "right is ten times rarer." + (" Shaded: requests without an answer." if missing else "")
    )
    title = about_quantile(view, "p99")
    return Picture(title, reading, body, quantile_table(view), data.rows, NARROWEST_PX)


def _curves(view: View, points: int) -> Rows:
    """All series, each thinned; p = 1 has no place on this axis."""
    found: Rows = []
    for panel in view.panels:
        for s in panel.series:
            d = s.distribution
            curve = [(p, t) for p, t in zip(d.quantile_p, d.quantile_s, strict=True) if p < 1]
            about = {"panel": short(panel.contestant, LONGEST_NAME), "series": s.name}
            found += [{**about, "x": -math.log10(1 - p), "y": at_least(t)} for p, t in thin(curve, points)]
    return found


def _ends(view: View) -> Rows:
    """Where the answers of each panel end that do not reach all requests: the farthest of its series."""
    found: Rows = []
    for panel in view.panels:
        reached = [max(s.distribution.quantile_p, default=0.0) for s in panel.series if s.unanswered]
        if reached:
            begin = -math.log10(1 - min(reached))
            found.append({"panel": short(panel.contestant, LONGEST_NAME), "from": begin})
    return found


def _missing(x: Spec, most: float) -> Spec:
    shaded = layer(
        None, "rect", {"color": MUTED, "opacity": 0.12}, x={**x, "field": "from"}, x2={"datum": most}
    )
    return {**shaded, "transform": [{"filter": "isValid(datum.from)"}]}


def _facets(rows: Spec, layers: list[Spec], order: list[str]) -> Spec:
    """The layers once for each "panel" of the rows, side by side as many as fit; all with the same axes."""
    return {
        "data": rows,
        "facet": {
            "field": "panel",
            "type": "nominal",
            "sort": order,
            "title": None,
            "header": {"labelPadding": 4},
        },
        "columns": 2 if len(order) == 4 else min(3, len(order)),
        "spec": {"layer": layers, "width": 230, "height": 170},
        "resolve": {"axis": {"x": "independent"}},
    }
