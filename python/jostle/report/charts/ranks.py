"""Response times by rank on linear axes, the graph of `ab -g`: from the fastest request to the slowest."""

import math
from collections.abc import Sequence

from jostle.analysis.results import WorkloadSummary
from jostle.formatting import amount
from jostle.report.charts.axes import at_least
from jostle.report.charts.colours import of_contestants
from jostle.report.charts.picture import Datasets, Picture, Rows, layer, quantitative, short, thin
from jostle.report.document import Table, columns
from jostle.report.workload import quantile_of_all
from jostle.units import scale

__all__ = ["ranks"]

POINTS = 120
"""The most points per line."""

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def ranks(title: str, found: Sequence[WorkloadSummary], order: Sequence[str]) -> Picture | None:
    """A line per server; None if no server answered. Requests that were given up are not part of a line."""
    drawn = [summary for summary in found if summary.response_distribution.quantile_s]
    if not drawn:
        return None
    longest = max(summary.response_distribution.quantile_s[-1] for summary in drawn)
    unit = scale(longest, "s")
    data = Datasets()
    rows: Rows = []
    for summary in drawn:
        d = summary.response_distribution
        for p, value in thin(list(zip(d.quantile_p, d.quantile_s, strict=True)), POINTS):
            rows.append({"contestant": summary.contestant, "rank": 100 * p, "time": value / unit.size})
    x = quantitative("rank", scale={"domain": [0, 100]}, axis={"title": "rank of the request (%)"})
    y = quantitative("time", scale={"zero": True}, axis={"title": f"response time ({unit.suffix.strip()})"})
    hue = of_contestants(order, [summary.contestant for summary in drawn], legend=True)
    body = {"layer": [layer(data(rows), "line", x=x, y=y, color=hue)], "width": 820, "height": 260}
    table = Table(
        f"{title}: response times by rank", columns("contestant", "5 % | 25 % | 50 % | 75 % | 95 %")
    )
    for summary in drawn:
        values = [quantile_of_all(summary.response_distribution, p) for p in LEVELS]
        table.add(summary.contestant, *(amount(value, "s") for value in values))
    flattest = min(drawn, key=_rise)
    if math.isinf(_rise(flattest)):
        sentence = f"{title}: no server answered 95 % of the requests as expected."
    else:
        sentence = (
            f"{title}: the flattest line is {short(flattest.contestant)}'s, on which the request at 95 % "
            f"takes {amount(_rise(flattest), 'times')} as long as the one at 5 %."
        )
    reading = "Requests ordered by response time; a flat line is a server that answers all in the same time."
    return Picture(sentence, reading, body, table, data.rows)


def _rise(summary: WorkloadSummary) -> float:
    """How many times as long the request at 95 % took as the one at 5 %; infinity if that is not known."""
    low, high = (quantile_of_all(summary.response_distribution, p) for p in (0.05, 0.95))
    return high / at_least(low) if low is not None and high is not None else math.inf
