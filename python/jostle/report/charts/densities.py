"""Densities on linear axes, as drawn by R's `plot(density(…))`: as published, and below as measured.

In a published five-number summary, a quarter of the requests lies between each two numbers. The density is
drawn in four such steps, with no assumption about its shape within a step.
"""

import itertools
from collections.abc import Sequence

from jostle.analysis.results import WorkloadSummary
from jostle.formatting import amount
from jostle.report.charts.boxes import Box
from jostle.report.charts.colours import of_contestants
from jostle.report.charts.picture import Datasets, Picture, Rows, Spec, layer, quantitative, short, thin
from jostle.report.document import Table, columns
from jostle.report.workload import quantile_of_all
from jostle.units import scale

__all__ = ["densities"]

POINTS = 120
"""The most points per curve."""

MAX_OF_P95 = 1.5
"""The axis ends at this many times the longest 95th percentile, so that rare stragglers do not squash it."""


def densities(
    title: str, published: Sequence[Box], found: Sequence[WorkloadSummary], order: Sequence[str]
) -> Picture | None:
    """A curve per server in each of two panels; None if no server had enough responses for a curve."""
    drawn = [summary for summary in found if summary.response_distribution.density]
    if not drawn:
        return None
    data = Datasets()
    hue = of_contestants(
        order, [*(box.contestant for box in published), *(s.contestant for s in drawn)], legend=True
    )
    theirs: Rows = [row for box in published for row in _steps(box)]
    here: Rows = [row for summary in drawn for row in _curve(summary)]
    farthest = MAX_OF_P95 * max(_p95(summary) for summary in drawn)
    panels = [
        _panel(data, "As published: a quarter of the requests in each step", theirs, 0.0, hue),
        _panel(data, "Measured here", [row for row in here if row["x"] <= farthest], farthest, hue),
    ]
    widest = max(drawn, key=lambda s: _between(s) or 0.0)
    if _between(widest) is None:
        sentence = f"{title}: of no server were three quarters of the requests answered as expected."
    else:
        sentence = (
            f"{title}: the widest distribution is {short(widest.contestant)}'s, with a middle half "
            f"{amount(_between(widest), 's')} wide."
        )
    reading = (
        "Density of the response times: the area under a curve is 1. Axes are linear and differ: compare "
        "shapes."
    )
    table = Table("The middle half of the response times", columns("contestant", "25 % | 50 % | 75 %"))
    for summary in drawn:
        quartiles = [quantile_of_all(summary.response_distribution, p) for p in (0.25, 0.5, 0.75)]
        table.add(summary.contestant, *(amount(value, "s") for value in quartiles))
    return Picture(sentence, reading, {"vconcat": panels}, table, data.rows)


def _steps(box: Box) -> Rows:
    corners = [(box.min_s, 0.0)]
    for low, high in itertools.pairwise(box.numbers):
        level = 0.25 / (high - low) if high > low else 0.0
        corners += [(low, level), (high, level)]
    corners.append((box.max_s, 0.0))
    return [{"contestant": box.contestant, "n": n, "x": x, "y": y} for n, (x, y) in enumerate(corners)]


def _curve(summary: WorkloadSummary) -> Rows:
    """The density per second; that of the analysis is per e-fold."""
    d = summary.response_distribution
    points = thin(list(zip(d.density_x_s, d.density, strict=True)), POINTS)
    about = {"contestant": summary.contestant}
    return [{**about, "n": n, "x": x, "y": y / x} for n, (x, y) in enumerate(points) if x > 0]


def _panel(data: Datasets, title: str, rows: Rows, end: float, hue: Spec) -> Spec:
    end = end or max(row["x"] for row in rows) * 1.06
    unit = scale(end, "s")
    shown = [{**row, "x": row["x"] / unit.size, "y": row["y"] * unit.size} for row in rows]
    name = unit.suffix.strip()
    x = quantitative(
        "x",
        scale={"domain": [0, end / unit.size], "nice": False},
        axis={"title": f"response time ({name})", "grid": True},
    )
    y = quantitative(
        "y", scale={"zero": True}, axis={"title": f"share of requests per {name}", "format": "~g"}
    )
    line = layer(data(shown), "line", {"clip": True}, x=x, y=y, color=hue, order={"field": "n"})
    return {"title": title, "layer": [line], "width": 820, "height": 170}


def _p95(summary: WorkloadSummary) -> float:
    """The 95th percentile of all requests, or the longest response if the percentile is beyond it."""
    found = summary.response_distribution
    return quantile_of_all(found, 0.95) or found.max_s or 0.0


def _between(summary: WorkloadSummary) -> float | None:
    """The distance from the first to the third quartile, in seconds."""
    low, high = (quantile_of_all(summary.response_distribution, p) for p in (0.25, 0.75))
    return None if low is None or high is None else high - low
