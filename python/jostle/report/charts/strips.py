"""The response in one picture: a strip from median to p99, the longest response, and the share without
one."""

from collections.abc import Sequence

from jostle.formatting import percent
from jostle.report.charts.axes import TimeAxis, at_least
from jostle.report.charts.colours import BY_STRENGTH, of_contestants, strength
from jostle.report.charts.picture import (
    GRID,
    INK,
    MUTED,
    SURFACE,
    Datasets,
    Picture,
    Rows,
    Spec,
    layer,
    quantitative,
    short,
)
from jostle.report.charts.tables import quantile_table
from jostle.report.charts.titles import about_quantile, most_harmed
from jostle.report.views import ALONE, Series, View
from jostle.report.workload import NOT_OK

__all__ = ["strips"]

HEADING_PX, NAME_PX, BAR_PX, ALONE_PX, GAP_PX = 30, 18, 12, 10, 4
ROOM_PX = 12  # below each contestant

GAUGE = 0.05, 0.4
"""Where a gauge begins and ends in the block at the right edge; its number is to the right of it."""


def strips(views: Sequence[View]) -> Picture:
    """A row for each contestant of each view; a gauge at the right edge shows the share without a
    response."""
    data, axis = Datasets(), TimeAxis.of(*views)
    found = _Rows(axis, gauged=any(s.unanswered for view in views for p in view.panels for s in p.series))
    for view in views:
        found.add(view, heading=len(views) > 1)
    x, upper = quantitative("x", scale=axis.scale, axis=axis.axis()), {"field": "x2"}
    place = {"domain": [found.bottom, 0], "nice": False}
    y, lower = quantitative("y", scale=place, axis=None), {"field": "y2"}
    names = list(dict.fromkeys(p.contestant for view in views for p in view.panels))
    hue = {"color": of_contestants(views[0].order, names), **strength(views[0])}
    middle = {**y, "field": "middle"}
    left = {"align": "left", "baseline": "top", "dx": 2}
    heading = {**left, "color": MUTED, "fontSize": 13, "limit": {"expr": "width"}}
    layers = [
        layer(data(found.headings), "text", heading, **_text(y)),
        layer(data(found.names), "text", {**left, "fontWeight": "bold", "fontSize": 13}, **_text(y)),
        layer(data(found.lines), "rule", {"strokeWidth": 1.5}, x=x, x2=upper, y=middle, **hue),
        layer(data(found.bars), "rect", {"cornerRadius": 1}, x=x, x2=upper, y=y, y2=lower, **hue),
        layer(data(found.medians), "rule", {"strokeWidth": 2.5}, x=x, y=y, y2=lower, **hue),
        layer(
            data(found.dots), "point", {"filled": True, "size": 50, "stroke": SURFACE}, x=x, y=middle, **hue
        ),
    ]
    if found.gauges:
        gauges, edge = data(found.gauges), {**x, "field": "edge"}
        frame = {"fillOpacity": 0, "stroke": GRID, "strokeWidth": 1}
        label = {"align": "right", "baseline": "middle", "fontSize": 11, "color": INK}
        above = {"align": "right", "baseline": "top", "color": MUTED, "fontSize": 12}
        layers += [
            layer(gauges, "rect", frame, x=x, x2={"field": "end"}, y=y, y2=lower),
            layer(gauges, "rect", {}, x=x, x2=upper, y=y, y2=lower, **hue),
            layer(gauges, "text", label, x=edge, y=middle, text={"field": "text"}),
            layer(data([{"x": axis.end, "y": 0, "text": NOT_OK}]), "text", above, x=x, **_only(y)),
        ]
    body = {"layer": layers, "width": 820, "height": found.bottom}
    return Picture(_title(views), _reading(views, found), body, quantile_table(views), data.rows)


def _text(y: Spec) -> Spec:
    return {"x": {"value": 0}, **_only(y)}


def _only(y: Spec) -> Spec:
    return {"y": y, "text": {"field": "text"}}


def _title(views: Sequence[View]) -> str:
    """A sentence about the view with the most harmed contestant."""
    worst = most_harmed(views)
    return (f"{worst.title.partition(':')[0]}: " if len(views) > 1 else "") + about_quantile(worst, "p99")


def _reading(views: Sequence[View], found: "_Rows") -> str:
    text = BY_STRENGTH if views[0].paired else ""
    text += "Bars run from the median to the p99; a line goes on from there to the longest response (dot)."
    if found.unknown:
        text += " Where there is no bar, the median or the p99 is not known; the table says why."
    if found.beyond:
        text += " A bar that reaches the end of the time axis begins at a lower bound: the p99 lies beyond."
    return text + (
        " Boxes at the right edge: the share of requests without a right response." if found.gauges else ""
    )


class _Rows:
    """The rows of all layers, filled from the top down; y is in pixels."""

    def __init__(self, axis: TimeAxis, *, gauged: bool) -> None:
        self.axis, self.gauged = axis, gauged
        self.bottom = float(NAME_PX if gauged else 0)  # room for the gauges' heading
        self.headings: Rows = []
        self.names: Rows = []
        self.lines: Rows = []
        self.bars: Rows = []
        self.unknown = self.beyond = False
        self.medians: Rows = []
        self.dots: Rows = []
        self.gauges: Rows = []

    def add(self, view: View, *, heading: bool) -> None:
        """Adds a view below those that were added before."""
        if heading:
            self.headings.append({"y": self.bottom + 4, "text": short(view.title, 90)})
            self.bottom += HEADING_PX
        for panel in view.panels:
            self.names.append({"y": self.bottom, "text": short(panel.contestant, 40)})
            self.bottom += NAME_PX
            for s in panel.series:
                self._series(s, panel.contestant, ALONE_PX if view.paired and s.name == ALONE else BAR_PX)
            self.bottom += ROOM_PX

    def _series(self, s: Series, contestant: str, height: int) -> None:
        top, bottom = self.bottom, self.bottom + height
        about = {
            "contestant": contestant,
            "series": s.name,
            "y": top,
            "y2": bottom,
            "middle": (top + bottom) / 2,
        }
        median, p99 = s.response.get("p50"), s.response.get("p99")
        longest = s.distribution.max_s
        known = p99 is not None and p99.value is not None
        self.unknown |= not known or median is None or median.value is None
        if median is not None and median.value is not None:
            begin = end = at_least(median.value)
            self.medians.append({"x": begin, "known": known, **about})
            if p99 is not None and p99.value is not None:
                beyond = bool(p99.bound and s.unanswered)
                self.beyond |= beyond
                end = max(self.axis.block if beyond else p99.value, begin * 1.005)
                self.bars.append({"x": begin, "x2": end, **about})
            if longest is not None and longest > end:
                self.lines.append({"x": end, "x2": longest, **about})
        if longest is not None:
            self.dots.append({"x": at_least(longest), **about})
        if self.gauged:
            begin, end = GAUGE
            filled = begin + (end - begin) * s.unanswered
            ends = {
                name: self.axis.gauge(share) for name, share in (("x", begin), ("x2", filled), ("end", end))
            }
            self.gauges.append({**ends, "edge": self.axis.end, "text": percent(s.unanswered), **about})
        self.bottom += height + GAP_PX
