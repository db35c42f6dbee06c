"""The light stream over time: a dot for each request, so that pauses stand out."""

import statistics
from collections.abc import Sequence

from jostle.formatting import amount, plural
from jostle.report.charts.axes import TIME_LABEL, at_least, decades, time_scale
from jostle.report.charts.picture import Datasets, Picture, Rows, layer, quantitative, thin
from jostle.report.document import Table, columns

__all__ = ["pauses"]

MAX_POINTS = 1500
MAX_LABELS = 10


def pauses(points: Sequence[tuple[float, float | None]]) -> Picture | None:
    """The stream over time; None if no request was answered. `points`: for each request when it was due and
    its response time, in seconds, None if it was not answered.
    """
    known = [(at, took) for at, took in points if took is not None]
    if not known:
        return None
    times = [took for _, took in known]
    low, high = at_least(min(times)), max(*times, at_least(min(times)) * 4)
    ordered = sorted(known, key=lambda point: -point[1])
    shown = sorted([*ordered[:100], *thin(ordered[100:], MAX_POINTS)] if len(ordered) > 100 else ordered)
    rows: Rows = [{"t": at, "took": at_least(took)} for at, took in shown]
    data = Datasets()
    x = quantitative("t", axis={"title": "seconds since the stream began", "grid": True})
    axis = {
        "title": "response time (logarithmic)",
        "labelExpr": TIME_LABEL,
        "values": decades(low / 1.25, high * 1.5),
    }
    y = quantitative("took", scale=time_scale(low, high), axis=axis)
    dots = layer(
        data(rows), "point", {"filled": True, "size": 14, "color": "var(--hue1)", "opacity": 0.7}, x=x, y=y
    )
    body = {"layer": [dots], "width": 820, "height": 200}
    table = Table("The longest of the stream", columns("due at", "took"))
    for at, took in ordered[:MAX_LABELS]:
        table.add(f"{at:.3f} s", amount(took, "s"))
    missing = len(points) - len(known)
    title = (
        f"{plural(len(known), 'request')} at random times: median "
        f"{amount(statistics.median(times), 's')}, longest "
        f"{amount(max(times), 's')}" + (f"; {missing} not answered" if missing else "")
    )
    reading = (
        "A dot for each request of a light stream. A pause makes all that were due in it late, the first the "
        "most."
    )
    return Picture(f"{title}.", reading, body, table, data.rows)
