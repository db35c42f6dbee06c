"""How far the quantiles of two contestants are apart: the ratios of the table as a picture."""

from jostle.analysis.results import Comparison
from jostle.formatting import amount
from jostle.quantiles import LEVELS
from jostle.report.charts.picture import INK, MUTED, Datasets, Picture, Rows, layer, quantitative
from jostle.report.document import Column, Table, columns

__all__ = ["shift"]


def shift(c: Comparison) -> Picture | None:
    """The ratio and its interval for each compared quantile; None if there are no intervals."""
    rows = _rows(c)
    if not rows:
        return None
    data = Datasets()
    order = [r["quantile"] for r in rows]
    x = {
        "field": "quantile",
        "type": "ordinal",
        "sort": order,
        "scale": {"domain": order},
        "axis": {"title": "quantile", "labelAngle": 0},
    }
    ends = [r[k] for r in rows for k in ("low", "high")]
    scale = {"type": "log", "domain": [min(0.8, *ends), max(1.25, *ends)], "nice": False}
    axis = {"title": f"response time, {c.b} ÷ {c.a}", "format": "~g", "tickCount": 5, "minExtent": 40}
    y = quantitative("y", scale=scale, axis=axis)
    source, band = data(rows), {"strokeWidth": 6, "opacity": 0.4, "color": MUTED}
    layers = [
        layer(data([{"y": 1.0}]), "rule", {"color": MUTED, "strokeDash": [4, 3]}, y=y),
        layer(source, "rule", band, x=x, y={**y, "field": "low"}, y2={"field": "high"}),
        layer(source, "point", {"filled": True, "size": 40, "opacity": 1, "color": INK}, x=x, y=y),
    ]
    reading = (
        f"Above the dashed line {c.b} takes longer than {c.a}; below it, {c.b} takes less time. Bars are "
        "intervals of a typical round, as in the table that gives the findings; in a run with many "
        "comparisons an interval that lies beside the line may still be chance. The quantiles of all "
        "requests together, in the other table, may order the two otherwise: there a slow round weighs more."
    )
    body = {"layer": layers, "width": 400, "height": 190}
    return Picture(f"{c.workload}: {c.sentence}", reading, body, _table(c), data.rows)


def _rows(c: Comparison) -> Rows:
    return [
        {"quantile": d.metric, "y": d.ratio.value, "low": d.ratio.low, "high": d.ratio.high}
        for d in c.differences
        if d.metric in LEVELS and d.ratio.value and d.ratio.low is not None and d.ratio.high is not None
    ]


def _table(c: Comparison) -> Table:
    """Quantiles of all requests of all rounds together, more of them than are compared."""
    figures = [Column(name) for name in (c.a, c.b, f"{c.b} − {c.a}")]
    table = Table("Quantiles of the requests of all rounds together", [*columns("quantile"), *figures])
    s = c.shift
    for p, a, b, d in zip(s.p, s.a_s, s.b_s, s.difference_s, strict=True):
        table.add(f"p{p * 100:g}", *(amount(v, "s") for v in (a, b, d)))
    return table
