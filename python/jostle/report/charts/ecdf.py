"""The ECDF: the share of all requests that was answered within a given time, one panel per contestant."""

from jostle.report.charts.axes import TIME_LABEL, TimeAxis, at_least, decades, time_scale
from jostle.report.charts.colours import BY_STRENGTH
from jostle.report.charts.facets import MIN_WIDTH_PX, curves, lines, side_by_side, without_curves
from jostle.report.charts.picture import Datasets, Picture, Rows, quantitative
from jostle.report.charts.tables import quantile_table
from jostle.report.charts.titles import about_quantile
from jostle.report.views import View

__all__ = ["ecdf"]


def ecdf(view: View, points: int) -> Picture:
    """A rising curve for each series, which ends at the share that was answered."""
    data, axis = Datasets(), TimeAxis.of(view)
    rows: Rows = [
        {**about, "x": at_least(seconds), "y": share}
        for about, _, curve in curves(view, points)
        for share, seconds in curve
    ]
    times = {
        "values": decades(axis.start, axis.high * 1.5),
        "labelExpr": TIME_LABEL,
        "title": "response time",
    }
    x = quantitative("x", scale=time_scale(axis.low, axis.high), axis=times)
    shares = {"title": "share of all requests", "format": ".0%", "tickCount": 5}
    y = quantitative("y", scale={"domain": [0, 1], "nice": False}, axis=shares)
    layers = lines(data, rows, view, x, y)
    body = side_by_side(data([*rows, *without_curves(rows, view)]), layers, view)
    reading = BY_STRENGTH if view.paired else "Grey: the other contestants. " if len(view.panels) > 1 else ""
    reading += "Height: the share of all requests that were answered as expected within the time on the axis."
    if any(s.unanswered for p in view.panels for s in p.series):
        reading += " If a curve ends below 100 %, the rest got no right response."
    title = about_quantile(view, "p50")
    return Picture(title, reading, body, quantile_table([view]), data.rows, MIN_WIDTH_PX)
