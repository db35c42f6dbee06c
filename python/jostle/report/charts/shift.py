"""The shift function: how far the quantiles of two contestants lie apart, all along the distribution."""

from typing import Any

import altair as alt

from jostle.analysis.results import Comparison
from jostle.formatting import amount
from jostle.report import tables
from jostle.report.charts.common import (
    FIRST,
    INK,
    MUTED,
    TIME_LABEL,
    Datasets,
    Picture,
    Rows,
    whole,
)

__all__ = ["shift"]

LABELS = ["10", "20", "30", "40", "50", "60", "70", "80", "90", "95", "99", "99.9"]


def shift(number: int, c: Comparison) -> Picture | None:
    """A point and its band for each quantile; None where there are no bands (one round)."""
    s = c.shift
    rows: Rows = [
        {"p": f"{p * 100:g}", "y": d, "low": low, "high": high}
        for p, d, low, high in zip(s.p, s.difference_s, s.low_s, s.high_s, strict=True)
        if d is not None and low is not None and high is not None
    ]
    if not rows:
        return None
    data = Datasets()
    x = alt.X(
        "p:O",
        sort=LABELS,
        scale=alt.Scale(domain=[r["p"] for r in rows]),
        axis=alt.Axis(title="quantile, %", labelAngle=0, tickSize=0, labelPadding=6),
    )
    ends = [r[k] for r in rows for k in ("low", "high")]
    scale = alt.Scale(domain=[min(0.0, *ends), max(0.0, *ends)], nice=True)
    y = alt.Y("y:Q", scale=scale, axis=alt.Axis(title=None, labelExpr=_SIGNED, tickSize=0, minExtent=64))
    base: Any = alt.Chart(data(rows))
    zero = alt.Chart(data([{"y": 0.0}])).mark_rule(color=MUTED, strokeDash=[4, 3]).encode(y=y)
    bands = base.mark_rule(strokeWidth=6, opacity=0.35, color=FIRST).encode(
        x=x, y=alt.Y("low:Q"), y2="high:Q"
    )
    line = base.mark_line(color=FIRST, strokeWidth=1).encode(x=x, y=y)
    points = base.mark_point(filled=True, size=40, opacity=1, color=INK).encode(x=x, y=y)
    chart = alt.layer(zero, bands, line, points).properties(width=400, height=190)
    reading = (
        f"Above the dashed line {c.b} takes longer than {c.a}, below it less. The bands hold for all"
        " quantiles at once (95 %): a band that misses the line is a difference."
    )
    return Picture(
        f"shift-{number}", _title(c), reading, whole(chart), tables.shift(c), data.rows, small=True
    )


_SIGNED = (
    "(datum.value > 0 ? '+' : datum.value < 0 ? '\\u2212' : '') + "
    + "("
    + TIME_LABEL.replace("datum.value", "abs(datum.value)")
    + ")"
)
"""A Vega expression: a difference of times with its sign; 0 has the smallest unit."""


def _title(c: Comparison) -> str:
    """Where in the distribution the difference is surest to be seen."""
    s = c.shift
    found = [
        (min(abs(low), abs(high)), p, d)
        for p, d, low, high in zip(s.p, s.difference_s, s.low_s, s.high_s, strict=True)
        if d is not None and low is not None and high is not None and (low > 0 or high < 0)
    ]
    if not found:
        return f"{c.title}: no quantile of {c.b} differs from that of {c.a} beyond chance (95 %)."
    _, p, d = max(found)
    word = "longer" if d > 0 else "less"
    return f"{c.title}: at the {p * 100:g} % quantile {c.b} takes {amount(abs(d), 's')} {word} than {c.a}."
