"""A load with phases over time, all contestants on one axis: connections, rates, times, network, cores."""

from collections.abc import Iterable, Sequence
from typing import Any

import altair as alt

from jostle.analysis.results import PhasedLoad, PhasedTimeline, RunResult
from jostle.formatting import MISSING, amount
from jostle.report.charts.common import (
    GRID,
    MUTED,
    SMALLEST_S,
    TIME_LABEL,
    Datasets,
    Picture,
    Rows,
    decades,
    time_scale,
    whole,
)
from jostle.report.sections.phased import cores_in_use, per_second, sentence
from jostle.report.tables import Table, columns

__all__ = ["crowd_pictures"]

HUES = ["#2f8fd0", "#d9622b", "#1a9e77", "#b565b0", "#c79a00", "#7f8790"]
"""Apart for the colour-blind, and seen on light and dark ground (after Okabe and Ito)."""

HEIGHT, WIDTH = 92, 640
MOST_POINTS, TABLE_POINTS = 150, 12
DASHED: dict[str, Any] = {"strokeDash": [4, 3], "strokeWidth": 1.1}


def crowd_pictures(result: RunResult) -> list[Picture]:
    """One for each workload with phases, of as many contestants as there are hues."""
    found = []
    for number, workload in enumerate(dict.fromkeys(c.workload for c in result.phased_loads), 1):
        drawn = [c for c in result.phased_loads if c.workload == workload][: len(HUES)]
        found.append(_picture(f"crowd-{number}", drawn))
    return found


def _picture(key: str, phased_loads: list[PhasedLoad]) -> Picture:
    data = Datasets()
    clients = [row for c in phased_loads for row in course_rows(c.contestant, c.timeline, MOST_POINTS)]
    server = [row for c in phased_loads for row in _server_rows(c.contestant, c.timeline)]
    chart = _Panels(
        [c.contestant for c in phased_loads], clients, server, phased_loads[0].timeline, data
    ).stacked()
    trials = ", ".join(f"{c.timeline.trial} ({c.contestant})" for c in phased_loads)
    reading = (
        f"{phased_loads[0].title}. Of each contestant the trial of the median throughput: {trials}. "
        "Every second phase is shaded."
    )
    return Picture(key, sentence(phased_loads), reading, whole(chart), _table(phased_loads), data.rows)


def course_rows(contestant: str, c: PhasedTimeline, points: int) -> Rows:
    """At most `points` rows: neighbouring intervals are merged; of the p99, the longest stays."""
    rows: Rows = []
    for cut in _groups(len(c.t_s), points):
        row: dict[str, Any] = {"contestant": contestant, "t": _mean(c.t_s[cut])}
        row |= {"clients": _last(c.clients[cut]), "open": _last(c.open[cut])}
        row |= {"rate": _mean(c.throughput_per_s[cut]), "generator": _mean(c.generator_cpu[cut])}
        row |= {"in": _mean(c.to_server_per_s[cut]), "out": _mean(c.from_server_per_s[cut])}
        for part, mean, p99 in (
            ("connect", c.connect_mean_s, c.connect_p99_s),
            ("headers", c.headers_mean_s, c.headers_p99_s),
            ("body", c.body_mean_s, c.body_p99_s),
        ):
            row |= {
                f"{part}_mean": _mean(_times(mean[cut])),
                f"{part}_p99": max(_times(p99[cut]), default=None),
            }
        rows.append(row)
    return rows


def _server_rows(contestant: str, c: PhasedTimeline) -> Rows:
    return [
        {"contestant": contestant, "t": _mean(c.server_t_s[cut]), "cpu": _mean(c.server_cpu[cut])}
        for cut in _groups(len(c.server_t_s), MOST_POINTS)
    ]


def _groups(count: int, most: int) -> list[slice]:
    size = max(1, -(-count // most))
    return [slice(i, i + size) for i in range(0, count, size)]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _last(values: Iterable[int | None]) -> int | None:
    return next((v for v in reversed(list(values)) if v is not None), None)


def _times(values: Iterable[float | None]) -> list[float]:
    return [max(v, SMALLEST_S) for v in values if v is not None]


class _Panels:
    """The stacked charts of one picture; the lowest of them carries the labels of the axis of time."""

    def __init__(
        self, contestants: list[str], clients: Rows, server: Rows, timeline: PhasedTimeline, data: Datasets
    ) -> None:
        self.clients, self.server = clients, server
        self.client_chart = alt.Chart(data(clients))
        self.target_chart = alt.Chart(data([r for r in clients if r["contestant"] == contestants[0]]))
        self.server_chart = alt.Chart(data(server)) if server else None
        self.end = max(row["t"] for row in clients + server)
        scale = alt.Scale(domain=contestants, range=HUES[: len(contestants)])
        legend = alt.Legend(title=None, orient="top", symbolType="stroke", symbolStrokeWidth=3)
        self.hue = alt.Color("contestant:N", scale=scale, legend=legend)
        shaded = [{"t": p.start_s, "end": p.end_s, "text": p.name} for p in timeline.phases]
        self.shades = alt.Chart(data(shaded[1::2]))
        self.names = alt.Chart(data(shaded))

    def stacked(self) -> Any:
        """All panels, from connections down to cores."""
        charts = [
            self.connections(),
            self._panel("requests per second", self._line("rate", self._top("rate"))),
            self.times("connect", "time to open a connection: mean solid, p99 dashed"),
            self.times("headers", "from the send to the answer's headers: mean solid, p99 dashed"),
            self.times("body", "from headers to the last byte: mean solid, p99 dashed"),
            self.network(),
            self.cores(),
        ]
        return alt.vconcat(*charts, spacing=10)

    def connections(self) -> Any:
        """Connections open, and dashed the clients that are to be there."""
        most = self._top("open", "clients")
        target = self.target_chart.mark_line(strokeDash=[2, 3], strokeWidth=1, color=MUTED)
        y = alt.Y("clients:Q", scale=most, axis=_y_axis(format="~s"))
        names = self.names.mark_text(align="left", baseline="bottom", dx=3, fontSize=10, color=MUTED)
        return self._panel(
            "connections open; dotted: clients that are to be there",
            target.encode(x=self._x(), y=y),
            self._line("open", most),
            names.encode(x=self._x(), y=alt.value(HEIGHT - 3), text="text:N"),
        )

    def times(self, part: str, title: str) -> Any:
        """Mean and p99 of one part of a request, logarithmic."""
        found = [
            r[f"{part}_{q}"] for r in self.clients for q in ("mean", "p99") if r[f"{part}_{q}"] is not None
        ]
        low, high = (min(found), max(max(found), min(found) * 4)) if found else (1e-3, 1.0)
        scale, axis = time_scale(low, high), _y_axis(labelExpr=TIME_LABEL, values=decades(low, high))
        return self._panel(
            title,
            self._line(f"{part}_mean", scale, axis=axis),
            self._line(f"{part}_p99", scale, axis=axis, **DASHED),
        )

    def network(self) -> Any:
        """Bytes of the measured requests and answers, without what TCP adds to them."""
        scale = self._top("in", "out")
        axis = _y_axis(labelExpr="format(datum.value / 1e6, ',~r')")
        return self._panel(
            "network, MB/s: from the server solid, to the server dashed",
            self._line("out", scale, axis=axis),
            self._line("in", scale, axis=axis, **DASHED),
        )

    def cores(self) -> Any:
        """Cores in use by both sides."""
        most = max([1.0, *(r["cpu"] for r in self.server), *(r["generator"] for r in self.clients)])
        scale = alt.Scale(domain=[0, most * 1.08])
        layers = [self._line("generator", scale, axis=_y_axis(), lowest=True, **DASHED)]
        if self.server_chart is not None:
            line = self.server_chart.mark_line(strokeWidth=1.6)
            y = alt.Y("cpu:Q", scale=scale, axis=_y_axis())
            layers.append(line.encode(x=self._x(lowest=True), y=y, color=self.hue))
        return self._panel("cores in use: server solid, generator dashed", *layers, lowest=True)

    def _line(
        self, name: str, scale: alt.Scale, *, axis: alt.Axis | None = None, lowest: bool = False, **mark: Any
    ) -> Any:
        line = self.client_chart.mark_line(**{"strokeWidth": 1.6, **mark})
        y = alt.Y(f"{name}:Q", scale=scale, axis=axis or _y_axis(format="~s"))
        return line.encode(x=self._x(lowest=lowest), y=y, color=self.hue)

    def _top(self, *names: str) -> alt.Scale:
        most = max((r[name] for r in self.clients for name in names if r[name] is not None), default=0)
        return alt.Scale(domain=[0, most * 1.1 or 1.0])

    def _panel(self, title: str, *layers: Any, lowest: bool = False) -> Any:
        shade = self.shades.mark_rect(color=GRID, opacity=0.5, clip=True)
        height = {"y": alt.value(0), "y2": alt.value(HEIGHT)}
        shaded = shade.encode(x=self._x(lowest=lowest), x2="end:Q", **height)
        heading = alt.TitleParams(title, fontSize=11, fontWeight="normal", color=MUTED, offset=4)
        return alt.layer(shaded, *layers).properties(width=WIDTH, height=HEIGHT, title=heading)

    def _x(self, *, lowest: bool = False) -> alt.X:
        title = "seconds from the start of the trial" if lowest else None
        axis = alt.Axis(title=title, labels=lowest, grid=True, tickCount=8, tickSize=0, labelPadding=6)
        return alt.X("t:Q", scale=alt.Scale(domain=[0, self.end * 1.01], nice=False), axis=axis)


def _y_axis(**more: Any) -> alt.Axis:
    return alt.Axis(title=None, tickCount=4, tickSize=0, minExtent=52, maxExtent=52, grid=False, **more)


def _table(phased_loads: list[PhasedLoad]) -> Table:
    names = "contestant | second | open | requests | connect: mean | headers: mean | p99 | body: mean"
    table = Table("Over time", columns(f"{names} | to the server | from it | generator"))
    for crowd in phased_loads:
        for row in course_rows(crowd.contestant, crowd.timeline, TABLE_POINTS):
            times = [
                amount(row[k], "s") for k in ("connect_mean", "headers_mean", "headers_p99", "body_mean")
            ]
            network = (per_second(row["in"]), per_second(row["out"]), cores_in_use(row["generator"]))
            opened = MISSING if row["open"] is None else amount(row["open"], "count")
            rate = amount(row["rate"], "/s")
            table.add(crowd.contestant, f"{row['t']:.1f}", opened, rate, *times, *network)
    return table
