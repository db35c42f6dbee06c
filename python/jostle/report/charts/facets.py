"""Small multiples: a panel for each contestant, all with the same axes."""

from collections.abc import Iterable

from jostle.report.charts.colours import of_contestants, strength
from jostle.report.charts.picture import MUTED, Datasets, Rows, Spec, layer, thin
from jostle.report.views import Series, View

__all__ = ["MIN_WIDTH_PX", "curves", "lines", "side_by_side", "without_curves"]

MIN_WIDTH_PX = 250
WIDTH, HEIGHT = 230, 170


def curves(view: View, points: int) -> Iterable[tuple[Spec, Series, list[tuple[float, float]]]]:
    """For each series: the fields that its rows share, the series, and its thinned curve as pairs of (share
    of all requests, seconds).
    """
    for panel in view.panels:
        for s in panel.series:
            d = s.distribution
            about = {"contestant": panel.contestant, "series": s.name}
            yield about, s, thin(list(zip(d.quantile_p, d.quantile_s, strict=True)), points)


def lines(data: Datasets, rows: Rows, view: View, x: Spec, y: Spec, style: Spec | None = None) -> list[Spec]:
    """The curves of each panel; without pairs, also those of the other contestants behind them in grey."""
    hue = of_contestants(view.order, [p.contestant for p in view.panels])
    layers = [layer(None, "line", style, x=x, y=y, color=hue, **strength(view))]
    if not view.paired and len(view.panels) > 1:
        others = data([{"other": r["contestant"], "x": r["x"], "y": r["y"]} for r in rows])
        faint = {**(style or {}), "opacity": 0.35, "strokeWidth": 1, "color": MUTED}
        layers.insert(0, layer(others, "line", faint, x=x, y=y, detail={"field": "other"}))
    return layers


def without_curves(rows: Rows, view: View) -> Rows:
    """A row without a point for each panel that has no rows, because only rows make a panel appear."""
    drawn = {row["contestant"] for row in rows}
    names = [p.contestant for p in view.panels if p.contestant not in drawn]
    return [{"contestant": name, "x": None, "y": None} for name in names]


def side_by_side(rows: Spec, layers: list[Spec], view: View) -> Spec:
    """The layers, repeated for each "contestant" in the rows, with two or three panels side by side."""
    order = [p.contestant for p in view.panels]
    header = {"labelPadding": 4, "labelLimit": WIDTH}
    facet = {"field": "contestant", "type": "nominal", "sort": order, "title": None, "header": header}
    return {
        "data": rows,
        "facet": facet,
        "columns": 2 if len(order) == 4 else min(3, len(order)),
        "spec": {"layer": layers, "width": WIDTH, "height": HEIGHT},
        "resolve": {"axis": {"x": "independent"}},
    }
