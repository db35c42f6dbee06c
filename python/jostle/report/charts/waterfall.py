"""The steps of a journey, each beginning where the previous one ends: medians and p99."""

from jostle.analysis.results import JourneyResult
from jostle.formatting import amount
from jostle.report.charts.picture import INK, MUTED, Datasets, Picture, Rows, layer, quantitative, short
from jostle.report.document import Table

__all__ = ["waterfall"]

ROW_PX = 34
BAR = "var(--hue1)"


def waterfall(journey: JourneyResult, table: Table) -> Picture | None:
    """A bar per step; None if no step has a median."""
    rows: Rows = []
    start = end = 0.0
    for place, step in enumerate(journey.steps):
        median, p99 = (step.response[name].value for name in ("p50", "p99"))
        if median is None:
            continue
        if not step.together:
            start = end
        rows.append(
            {
                "y": len(journey.steps) - place - 0.5,
                "start": start,
                "end": start + median,
                "late": start + (p99 if p99 is not None else median),
                "name": short(step.name),
                "text": amount(median, "s") + (f", p99 {amount(p99, 's')}" if p99 is not None else ""),
            }
        )
        end = max(end, start + median)
    if not rows:
        return None
    data = Datasets()
    bars = data(rows)
    widest = max(row["late"] for row in rows)
    scale = {"domain": [0, widest * 1.35], "nice": False}
    axis = {
        "title": "response times one after another, without pauses",
        "labelExpr": "format(datum.value, '~s') + 's'",
        "tickCount": 8,
    }
    x = quantitative("start", scale=scale, axis=axis)
    y = quantitative("y", scale={"domain": [0, len(journey.steps)], "nice": False}, axis=None)
    text = {"align": "left", "baseline": "middle"}
    layers = [
        layer(bars, "rule", {"color": MUTED}, x=quantitative("end"), x2={"field": "late"}, y=y),
        layer(bars, "bar", {"color": BAR, "height": 12}, x=x, x2={"field": "end"}, y=y),
        layer(bars, "text", {**text, "fontWeight": "bold", "dy": -13}, x=x, y=y, text={"field": "name"}),
        layer(
            bars, "text", {**text, "dx": 6, "color": INK}, x=quantitative("late"), y=y, text={"field": "text"}
        ),
    ]
    body = {"layer": layers, "width": 820, "height": ROW_PX * len(journey.steps)}
    longest = max(rows, key=lambda row: row["end"] - row["start"])
    title = f"{journey.name}: {longest['name']} takes the longest of its {len(rows)} steps."
    if len(rows) == 1:
        title = f"{journey.name}: {longest['name']} takes {amount(longest['end'] - longest['start'], 's')}."
    reading = (
        "Bars: the median response time of each step, from where the one before it ends (steps that are sent "
        "together begin together); lines: up to its p99."
    )
    return Picture(title, reading, body, table, data.rows)
