"""Response against the phase of a pause: a dot for each request, at its time since the last regular pause was
due, so that all pauses lie above one another.
"""

from collections.abc import Sequence

from jostle.formatting import amount
from jostle.report.charts.axes import TIME_LABEL, at_least, decades, time_scale
from jostle.report.charts.picture import Datasets, Picture, Rows, layer, quantitative, thin
from jostle.report.document import Table, columns

__all__ = ["phases"]

MAX_POINTS, LONGEST = 1200, 300
PARTS = 10


def phases(points: Sequence[tuple[float, float | None]], every_s: float) -> Picture | None:
    """The requests of a light stream folded at a period; None if none was answered. `points`: for each
    request when it was due and its response time, in seconds, None if it was not answered.
    """
    known = sorted(((at, took) for at, took in points if took is not None), key=lambda point: -point[1])
    if not known:
        return None
    # The end of the longest wait is that of a pause; it is drawn in the middle.
    middle_s = known[0][0] + known[0][1]
    folded = [((at - middle_s + every_s / 2) % every_s, took) for at, took in known]
    times = [took for _, took in folded]
    low, high = at_least(min(times)), max(*times, at_least(min(times)) * 4)
    rows: Rows = [
        {"phase": phase, "took": at_least(took)}
        for phase, took in [*folded[:LONGEST], *thin(folded[LONGEST:], MAX_POINTS)]
    ]
    data = Datasets()
    x = quantitative(
        "phase",
        scale={"domain": [0, every_s], "nice": False},
        axis={"title": f"seconds within a period of {amount(every_s, 's')}", "grid": True},
    )
    axis = {
        "title": "response time (logarithmic)",
        "labelExpr": TIME_LABEL,
        "values": decades(low / 1.25, high * 1.5),
    }
    y = quantitative("took", scale=time_scale(low, high), axis=axis)
    dots = layer(
        data(rows), "point", {"filled": True, "size": 14, "color": "var(--hue2)", "opacity": 0.7}, x=x, y=y
    )
    table = Table("The longest response in each tenth of a period", columns("part of the period", "longest"))
    for part in range(PARTS):
        times_s = [took for phase, took in folded if int(phase / every_s * PARTS) == part]
        table.add(f"{part * 10} to {part * 10 + 10} %", amount(max(times_s, default=None), "s"))
    title = f"Responses within a period of {amount(every_s, 's')}"
    reading = (
        "A dot for each request of the light stream, at its time within the period. What waits for the pause "
        "falls towards its end; elsewhere nothing is late, if there is no other pause."
    )
    return Picture(f"{title}.", reading, {"layer": [dots], "width": 820, "height": 200}, table, data.rows)
