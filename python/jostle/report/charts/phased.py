"""A load with phases over time, with all contestants on the same axes: connections, rates, times, network,
cores.
"""

from collections.abc import Iterable, Mapping, Sequence

from jostle.analysis.results import PhasedLoad, PhasedTimeline, PublishedFigure
from jostle.formatting import amount
from jostle.report.charts.axes import MIN_TIME_S
from jostle.report.charts.colours import HUES, of_contestants
from jostle.report.charts.panels import DASHED, Panels, groups, log_time_axis, mean, value_axis, values
from jostle.report.charts.picture import MUTED, Datasets, Picture, Rows, Spec
from jostle.report.document import Table, columns

__all__ = ["phased"]

MAX_POINTS, TABLE_POINTS = 150, 12

LEVELS = {"clients held": "open", "sustained throughput": "rate", "time to headers": "headers_p99"}
"""Published metrics that are drawn as horizontal lines, each with the measured column it belongs to."""

LEVEL: Spec = {"strokeDash": [8, 3, 1, 3], "strokeWidth": 1.5, "opacity": 0.7}

FAR = 3.0
"""A published figure more than this many times the highest value here is left out, as it would squash the
rest.
"""

PARTS = {
    "connect": "time to open a connection: mean solid, p99 dashed",
    "headers": "from the send to the response's headers: mean solid, p99 dashed",
    "body": "from headers to the last byte: mean solid, p99 dashed",
}


def phased(
    loads: Sequence[PhasedLoad],
    title: str,
    order: Sequence[str],
    published: Sequence[PublishedFigure] = (),
) -> Picture:
    """The picture of one workload, with as many contestants as there are hues. `published`: an article's
    figures for them.
    """
    drawn = list(loads)[:HUES]
    data = Datasets()
    clients = [row for c in drawn for row in _client_rows(c.contestant, c.timeline, MAX_POINTS)]
    server = [row for c in drawn for row in _server_rows(c.contestant, c.timeline)]
    end_s = max(row["t"] for row in clients + server)
    names = [c.contestant for c in drawn]
    hue = {"color": of_contestants(order, names, legend=True)}
    panels = Panels(data, hue, (0, end_s), drawn[0].timeline.phases, 640)
    marks = _published(published, drawn[0], clients, end_s)
    _add(panels, data, names, clients, server, marks)
    trials = ", ".join(f"{c.timeline.trial} ({c.contestant})" for c in drawn)
    reading = (
        f"{drawn[0].title}. Of each contestant the trial with median throughput: {trials}. "
        "Every second phase is shaded."
        + (" Dash-dotted: as published, by contestant." if any(marks.values()) else "")
    )
    return Picture(title, reading, panels.stacked(), _table(drawn), data.rows)


def _published(
    published: Sequence[PublishedFigure], load: PhasedLoad, clients: Rows, end_s: float
) -> dict[str, Rows]:
    """For each of `LEVELS`, the two ends of a line for every published figure that is not too far off."""
    marks: dict[str, Rows] = {}
    for metric, column in LEVELS.items():
        size = (load.asked or 0) if metric == "clients held" else 1
        highest = max((value for value in values(clients, column) if value is not None), default=0.0)
        marks[metric] = [
            {"contestant": f.beside, "t": t, "published": f.amount * size}
            for f in published
            if f.beside and (f.workload, f.metric) == (load.workload, metric)
            if f.amount and f.amount * size <= FAR * highest
            for t in (0.0, end_s)
        ]
    return marks


def _add(
    panels: Panels, data: Datasets, names: list[str], clients: Rows, server: Rows, marks: Mapping[str, Rows]
) -> None:
    """Adds all panels, from connections at the top to cores at the bottom."""

    def level(metric: str, y: Spec) -> list[Spec]:
        return [panels.line(data(marks[metric]), "published", y, LEVEL)] if marks[metric] else []

    rows = data(clients)
    target = data([r for r in clients if r["contestant"] == names[0]])
    y = value_axis("connections", values(clients, "open", "clients"))
    dotted: Spec = {"strokeDash": [2, 3], "strokeWidth": 1, "color": MUTED}
    panels.add(
        "connections open; dotted: clients of the plan",
        panels.line(target, "clients", y, dotted),
        panels.line(rows, "open", y),
        *level("clients held", y),
    )
    theirs = values(marks["sustained throughput"], "published")
    y = value_axis("requests/s", [*values(clients, "rate"), *theirs])
    panels.add("requests per second", panels.line(rows, "rate", y), *level("sustained throughput", y))
    for part, title in PARTS.items():
        metric = f"time to {part}"
        theirs = values(marks.get(metric, []), "published")
        measured = values(clients, f"{part}_mean", f"{part}_p99")
        if all(value is None for value in measured):
            continue
        y = log_time_axis("time", [*measured, *theirs])
        lines = [panels.line(rows, f"{part}_mean", y), panels.line(rows, f"{part}_p99", y, DASHED)]
        panels.add(title, *lines, *(level(metric, y) if theirs else []))
    y = value_axis("MB/s", values(clients, "in", "out"), unit="MB")
    title = "network, MB/s: from the server solid, to the server dashed"
    panels.add(title, panels.line(rows, "out", y), panels.line(rows, "in", y, DASHED))
    y = value_axis("cores", [1.0, *values(server, "cpu"), *values(clients, "generator")])
    cores = [panels.line(rows, "generator", y, DASHED)]
    cores += [panels.line(data(server), "cpu", y)] if server else []
    panels.add("cores in use: server solid, generator dashed", *cores)


def _client_rows(contestant: str, c: PhasedTimeline, points: int) -> Rows:
    """At most `points` rows: neighbouring intervals are merged, keeping the longest p99."""
    rows: Rows = []
    for cut in groups(len(c.t_s), points):
        row: Spec = {"contestant": contestant, "t": mean(c.t_s[cut])}
        row |= {"clients": _last(c.clients[cut]), "open": _last(c.open[cut])}
        row |= {"rate": mean(c.throughput_per_s[cut]), "generator": mean(c.generator_cpu[cut])}
        row |= {"in": mean(c.to_server_per_s[cut]), "out": mean(c.from_server_per_s[cut])}
        for part, means, p99 in (
            ("connect", c.connect_mean_s, c.connect_p99_s),
            ("headers", c.headers_mean_s, c.headers_p99_s),
            ("body", c.body_mean_s, c.body_p99_s),
        ):
            row |= {
                f"{part}_mean": mean(_times(means[cut])),
                f"{part}_p99": max(_times(p99[cut]), default=None),
            }
        rows.append(row)
    return rows


def _server_rows(contestant: str, c: PhasedTimeline) -> Rows:
    return [
        {"contestant": contestant, "t": mean(c.server_t_s[cut]), "cpu": mean(c.server_cpu[cut])}
        for cut in groups(len(c.server_t_s), MAX_POINTS)
    ]


def _last(found: Iterable[int | None]) -> int | None:
    return next((v for v in reversed(list(found)) if v is not None), None)


def _times(found: Iterable[float | None]) -> list[float]:
    return [max(v, MIN_TIME_S) for v in found if v is not None]


def _table(loads: Sequence[PhasedLoad]) -> Table:
    names = "second | open | requests | connect: mean | headers: mean | p99 | body: mean"
    table = Table("Over time", columns("contestant", f"{names} | to the server | from it | generator"))
    for load in loads:
        for row in _client_rows(load.contestant, load.timeline, TABLE_POINTS):
            times = [
                amount(row[k], "s") for k in ("connect_mean", "headers_mean", "headers_p99", "body_mean")
            ]
            network = [f"{amount(row[k], 'bytes')}/s" for k in ("in", "out")]
            opened, rate = amount(row["open"], "count"), amount(row["rate"], "/s")
            table.add(
                load.contestant,
                f"{row['t']:.1f}",
                opened,
                rate,
                *times,
                *network,
                amount(row["generator"], ""),
            )
    return table
