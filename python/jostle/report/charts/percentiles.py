"""Response time by percentile of all requests, one panel per contestant, on a logarithmic axis of nines."""

import math

from jostle.report.charts.axes import TIME_LABEL, TimeAxis, at_least, decades, time_scale
from jostle.report.charts.colours import BY_STRENGTH
from jostle.report.charts.facets import MIN_WIDTH_PX, curves, lines, side_by_side
from jostle.report.charts.picture import MUTED, Datasets, Picture, Rows, Spec, layer, quantitative
from jostle.report.charts.tables import quantile_table
from jostle.report.charts.titles import about_quantile
from jostle.report.views import View

__all__ = ["percentiles"]

NINES_LABEL = (
    "datum.value == 0 ? 'min' : format(1 - pow(10, -datum.value), '.' + max(0, datum.value - 2) + '%')"
)


def percentiles(view: View, points: int) -> Picture:
    """A curve for each series, which ends at the share that was answered; the rest is shaded."""
    data, axis = Datasets(), TimeAxis.of(view)
    rows: Rows = [
        {**about, "x": -math.log10(1 - share), "y": at_least(seconds)}
        for about, _, curve in curves(view, points)
        for share, seconds in curve
        if share < 1  # 100 % is at infinity on this axis
    ]
    max_nines = max(math.ceil(max((r["x"] for r in rows), default=1.0) * 10) / 10, 1.0)
    nines = {"values": list(range(int(max_nines) + 1)), "labelExpr": NINES_LABEL}
    nines["title"] = "percentile of all requests"
    x = quantitative("x", scale={"domain": [0, max_nines], "nice": False}, axis=nines)
    times = {
        "values": decades(axis.start, axis.high * 1.5),
        "labelExpr": TIME_LABEL,
        "title": "response time",
    }
    wide = {"minExtent": 64, "maxExtent": 64}
    y = quantitative("y", scale=time_scale(axis.low, axis.high), axis={**times, **wide})
    missing = [row for row in _ends(view) if row["from"] < max_nines]
    layers = [*lines(data, rows, view, x, y)]
    layers.insert(0, _shaded(x, max_nines))
    body = side_by_side(data([*rows, *missing]), layers, view)
    reading = (
        (BY_STRENGTH if view.paired else "")
        + "Height: the response time that the share of requests on the axis does not exceed; each step to "
        "the right is ten times rarer." + (" Shaded: requests without a right response." if missing else "")
    )
    title = about_quantile(view, "p99")
    return Picture(title, reading, body, quantile_table([view]), data.rows, MIN_WIDTH_PX)


def _ends(view: View) -> Rows:
    """For each panel with unanswered requests, where its responses end: the least of its series."""
    found: Rows = []
    for panel in view.panels:
        reached = [max(s.distribution.quantile_p, default=0.0) for s in panel.series if s.unanswered]
        if reached:
            begin = -math.log10(1 - min(reached))
            found.append({"contestant": panel.contestant, "from": begin})
    return found


def _shaded(x: Spec, max_nines: float) -> Spec:
    style = {"color": MUTED, "opacity": 0.12}
    drawn = layer(None, "rect", style, x={**x, "field": "from"}, x2={"datum": max_nines})
    return {**drawn, "transform": [{"filter": "isValid(datum.from)"}]}
