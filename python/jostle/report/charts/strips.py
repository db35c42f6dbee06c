"""The answer in one picture: a strip from median to p99, the longest wait, and who had no answer."""

from jostle.formatting import formatted, percent
from jostle.report.charts.axes import TimeAxis, at_least
from jostle.report.charts.colours import BY_COLOUR, of_series
from jostle.report.charts.picture import (
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
from jostle.report.charts.titles import about_quantile
from jostle.report.views import Series, View

__all__ = ["strips"]

ROW_PX = 30
BAR: Spec = {"height": 11, "cornerRadius": 2, "opacity": 0.85}
MEDIAN: Spec = {"align": "right", "dx": -5, "fontSize": 10, "color": MUTED}
DOT: Spec = {"filled": True, "size": 45, "opacity": 1, "stroke": SURFACE}
BLOCK: Spec = {"height": 18, "opacity": 0.3, "strokeWidth": 1, "strokeDash": [3, 2]}


def strips(view: View) -> Picture:
    """A row for each series: bar from p50 to p99, dot at the longest, block for those without an answer."""
    data = Datasets()
    axis = TimeAxis.of(view)
    bars, dots, blocks, order = _rows(view, axis)
    x, upper = quantitative("x", scale=axis.scale, axis=axis.axis()), {"field": "x2"}
    labels = {"labelLimit": 190, "grid": True}
    y = {"field": "row", "type": "nominal", "sort": order, "title": None, "axis": labels}
    hue, text = of_series(view), {"field": "text"}
    measured = data(bars)
    layers = [
        layer(measured, "bar", BAR, x=x, x2=upper, y=y, color=hue),
        layer(measured, "text", MEDIAN, x=x, y=y, text=text),
        layer(data(dots), "point", DOT, x=x, y=y, color=hue),
    ]
    if blocks:
        missing, middle = data(blocks), {**x, "field": "middle"}
        layers.append(layer(missing, "bar", BLOCK, x=x, x2=upper, y=y, color=hue))
        layers.append(
            layer(missing, "text", {"fontSize": 11, "fontWeight": "bold"}, x=middle, y=y, text=text)
        )
    reading = (
        (BY_COLOUR if view.paired else "")
        + "Bars run from the median (figure at its left) to the p99; the dot is the longest answer."
        + (" Blocks at the right edge: the share of requests that got no answer." if blocks else "")
    )
    body = {"layer": layers, "width": 820, "height": max(70, ROW_PX * len(order) + 10)}
    return Picture(about_quantile(view, "p99"), reading, body, quantile_table(view), data.rows)


def _rows(view: View, axis: TimeAxis) -> tuple[Rows, Rows, Rows, list[str]]:
    """(bars, dots, blocks, names in order)."""
    bars: Rows = []
    dots: Rows = []
    blocks: Rows = []
    order: list[str] = []
    for panel in view.panels:
        for s in panel.series:
            name = short(panel.contestant, 30) + (f", {s.name}" if view.paired else "")
            order.append(name)
            about = {"row": name, "series": s.name}
            bars += _bar(s, axis, about)
            if s.distribution.max_s is not None:
                dots.append({"x": at_least(s.distribution.max_s), **about})
            if s.unanswered:
                middle = (axis.block * axis.end) ** 0.5
                text = percent(s.unanswered)
                blocks.append({"x": axis.block, "x2": axis.end, "middle": middle, "text": text, **about})
    return bars, dots, blocks, order


def _bar(s: Series, axis: TimeAxis, about: Spec) -> Rows:
    """From the median to the p99; where only a bound is known of this, to the end of the answers."""
    median, p99 = s.response.get("p50"), s.response.get("p99")
    if median is None or median.value is None:
        return []
    begin, end = at_least(median.value), min(axis.high, axis.block)
    if p99 is not None and p99.value is not None and not p99.bound:
        end = p99.value
    return [{"x": begin, "x2": max(end, begin * 1.01), "text": formatted(median).value, **about}]
