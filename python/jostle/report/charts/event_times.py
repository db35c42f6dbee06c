"""When the events of streams came, over time: the first of each stream, the gaps between them, and the round
trips of messages.
"""

from collections.abc import Sequence

from jostle.analysis.results import StreamResult
from jostle.formatting import amount
from jostle.report.charts.colours import of_contestants
from jostle.report.charts.panels import (
    DASHED,
    Panels,
    groups,
    log_time_axis,
    longest_of,
    mean,
    middle_of,
    values,
)
from jostle.report.charts.picture import Datasets, Picture, Rows
from jostle.report.document import Table, columns

__all__ = ["event_times"]

MAX_POINTS = 200
TABLE_POINTS = 12

KINDS = {"first": "first event", "gap": "gap", "trip": "round trip"}


def event_times(stream: StreamResult, order: Sequence[str]) -> Picture | None:
    """The events of a request's streams; None if there were none. `order`: all contestants, for colours."""
    rows = _rows(stream, MAX_POINTS)
    if all(row["first"] is None for row in rows):
        return None
    data = Datasets()
    hue = {"color": of_contestants(order, [stream.contestant])}
    panels = Panels(data, hue, (0, max(row["t"] for row in rows)), (), 760)
    for name, title in KINDS.items():
        known = [row for row in rows if row[name] is not None]
        if known:
            drawn, y = data(known), log_time_axis(title, values(known, name, f"{name} p99", f"{name} max"))
            panels.add(
                f"{title}: median solid, p99 dashed, dots the longest",
                panels.line(drawn, name, y),
                panels.line(drawn, f"{name} p99", y, DASHED),
                panels.points(drawn, f"{name} max", y, {"filled": True, "size": 14, "opacity": 0.8}),
            )
    first, gap, trip = (longest_of([row[f"{name} max"] for row in rows]) for name in KINDS)
    title = f"{stream.contestant}: first events take up to {amount(first, 's')}"
    title += f", gaps up to {amount(gap, 's')}" if gap is not None else ""
    title += f", round trips up to {amount(trip, 's')}." if trip is not None else "."
    reading = (
        f"Shown: trial {stream.over_time.trial}, with the median number of events. First events stand at the "
        "time at which they came, not at which they were due. Of merged intervals, the largest p99 is shown."
    )
    return Picture(title, reading, panels.stacked(), _table(stream), data.rows)


def _rows(stream: StreamResult, points: int) -> Rows:
    """At most `points` rows: neighbouring intervals are merged, keeping the largest p99 and maximum."""
    t = stream.over_time
    columns = {
        "first": t.first_p50_s,
        "first p99": t.first_p99_s,
        "first max": t.first_max_s,
        "gap": t.gap_p50_s,
        "gap p99": t.gap_p99_s,
        "gap max": t.gap_max_s,
        "trip": t.round_trip_p50_s,
        "trip p99": t.round_trip_p99_s,
        "trip max": t.round_trip_max_s,
    }
    return [
        {"contestant": stream.contestant, "t": mean(t.t_s[cut])}
        | {name: middle_of(columns[name][cut]) for name in KINDS}
        | {name: longest_of(column[cut]) for name, column in columns.items() if name not in KINDS}
        for cut in groups(len(t.t_s), points)
    ]


def _table(stream: StreamResult) -> Table:
    rows = _rows(stream, TABLE_POINTS)
    kinds = [kind for kind in KINDS if kind != "trip" or any(row["trip"] is not None for row in rows)]
    names = ["second", *(f"{KINDS[kind]}, p50 | p99 | longest" for kind in kinds)]
    table = Table("Events over time", columns("", " | ".join(names)))
    for row in rows:
        times = (row[f"{kind}{what}"] for kind in kinds for what in ("", " p99", " max"))
        table.add(f"{row['t']:.2f}", *(amount(time, "s") for time in times))
    return table
