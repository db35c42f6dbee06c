"""The shift function: how far the quantiles of two contestants lie apart, all along the distribution."""

from jostle.analysis.results import Comparison
from jostle.formatting import amount
from jostle.report.charts.axes import TIME_LABEL
from jostle.report.charts.picture import INK, MUTED, Datasets, Picture, Rows, layer, quantitative
from jostle.report.document import Table, columns

__all__ = ["shift"]

SIGNED = (
    "(datum.value > 0 ? '+' : datum.value < 0 ? '\\u2212' : '') + ("
    + TIME_LABEL.replace("datum.value", "abs(datum.value)")
    + ")"
)
"""A Vega expression: a difference of times with its sign; 0 has the smallest unit."""


def shift(c: Comparison) -> Picture | None:
    """A point and its band for each quantile; None where there are no bands (one round)."""
    rows = _rows(c)
    if not rows:
        return None
    data = Datasets()
    order = [r["p"] for r in rows]
    x = {
        "field": "p",
        "type": "ordinal",
        "sort": order,
        "scale": {"domain": order},
        "axis": {"title": "quantile, %", "labelAngle": 0},
    }
    ends = [r[k] for r in rows for k in ("low", "high")]
    scale = {"domain": [min(0.0, *ends), max(0.0, *ends)], "nice": True}
    y = quantitative(
        "y", scale=scale, axis={"title": "difference of response times", "labelExpr": SIGNED, "minExtent": 64}
    )
    source, band = data(rows), {"strokeWidth": 6, "opacity": 0.4, "color": MUTED}
    layers = [
        layer(data([{"y": 0.0}]), "rule", {"color": MUTED, "strokeDash": [4, 3]}, y=y),
        layer(source, "rule", band, x=x, y={**y, "field": "low"}, y2={"field": "high"}),
        layer(source, "line", {"color": INK, "strokeWidth": 1}, x=x, y=y),
        layer(source, "point", {"filled": True, "size": 40, "opacity": 1, "color": INK}, x=x, y=y),
    ]
    reading = (
        f"Above the dashed line {c.b} takes longer than {c.a}, below it less. The bands hold for all "
        "quantiles at once (95 %): a band that does not touch the line shows a difference."
    )
    body = {"layer": layers, "width": 400, "height": 190}
    return Picture(_title(c), reading, body, _table(c), data.rows)


def _rows(c: Comparison) -> Rows:
    s = c.shift
    return [
        {"p": f"{p * 100:g}", "y": d, "low": low, "high": high}
        for p, d, low, high in zip(s.p, s.difference_s, s.low_s, s.high_s, strict=True)
        if d is not None and low is not None and high is not None
    ]


def _title(c: Comparison) -> str:
    """Where in the distribution the difference is surest to be seen."""
    sure = [
        (min(abs(r["low"]), abs(r["high"])), float(r["p"]), r["y"])
        for r in _rows(c)
        if r["low"] > 0 or r["high"] < 0
    ]
    if not sure:
        return f"{c.title}: no quantile of {c.b} differs from that of {c.a} beyond chance (95 %)."
    _, p, d = max(sure)
    word = "longer" if d > 0 else "less"
    return f"{c.title}: at the {p:g} % quantile {c.b} takes {amount(abs(d), 's')} {word} than {c.a}."


def _table(c: Comparison) -> Table:
    names = columns("quantile", "a | b | difference | simultaneous band")
    table = Table(f"Quantile by quantile: {c.b} (b) against {c.a} (a)", names)
    s = c.shift
    for p, a, b, d, low, high in zip(s.p, s.a_s, s.b_s, s.difference_s, s.low_s, s.high_s, strict=True):
        band = f"{amount(low, 's')} to {amount(high, 's')}" if low is not None else ""
        table.add(f"{p * 100:g} %", *(amount(v, "s") for v in (a, b, d)), band)
    return table
