"""What happened when: throughput, response times, processor and memory of both sides, on one axis of time."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from jostle.analysis.results import Phase, RunResult, Timeline, TrialResult
from jostle.formatting import amount, percent
from jostle.report.charts.common import (
    GRID,
    MUTED,
    SMALLEST_S,
    TIME_LABEL,
    Datasets,
    Picture,
    Rows,
    colour,
    decades,
    time_scale,
    whole,
)
from jostle.report.tables import Table, columns
from jostle.report.views import Panel, View, typical_trial

__all__ = ["timeline"]

HEIGHT = 92


def timeline(result: RunResult, view: View, panel: Panel, points: int) -> Picture | None:
    """Both runs of one contestant over time; None where nothing was recorded."""
    found = [(s.name, typical_trial(result, panel.contestant, s.workload)) for s in panel.series]
    drawn = [(name, trial) for name, trial in found if trial is not None]
    if not drawn:
        return None
    rows = [row for name, trial in drawn for row in client_rows(name, trial.timeline, points)]
    vitals = [row for name, trial in drawn for row in server_rows(name, trial.timeline, points)]
    data = Datasets()
    chart = _Panels(view, rows, vitals, data, drawn[-1][1].timeline.phases).stacked()
    numbers = " and ".join(f"trial {t.number}" + (f" ({n})" if view.paired else "") for n, t in drawn)
    reading = f"{numbers.capitalize()}: of the trials of this contestant those of the median throughput." + (
        " Blue: alone; vermilion: with slow." if view.paired else ""
    )
    key = f"timeline-{view.key}-{view.panels.index(panel) + 1}"
    table = _table(panel.contestant, drawn)
    return Picture(
        key,
        _title(panel.contestant, drawn),
        reading,
        whole(chart),
        table,
        data.rows,
        small=len(view.panels) > 1,
    )


def client_rows(name: str, t: Timeline, points: int) -> Rows:
    """At most `points` rows: neighbouring intervals are merged; of the longest times, the longest stays."""
    rows = []
    for cut in _groups(len(t.t_s), points):
        rows.append(
            {"series": name, "t": _mean(t.t_s[cut]), "rate": _mean(t.throughput_per_s[cut])}
            | {"errors": _mean(t.errors_per_s[cut]), "p50": _middle(t.p50_s[cut]), "p99": _most(t.p99_s[cut])}
            | {"max": _most(t.max_s[cut]), "generator": _mean(t.generator_cpu[cut])}
            | {"clients": next((c for c in reversed(t.clients[cut]) if c is not None), None)}
            | {"pacing": _most(t.generator.pacing_p99_s[cut]), "lag": _most(t.generator.loop_lag_max_s[cut])}
        )
    return rows


def server_rows(name: str, t: Timeline, points: int) -> Rows:
    """The server's vitals at their own times, at most `points` of them."""
    return [
        {
            "series": name,
            "t": _mean(t.server_t_s[c]),
            "cpu": _mean(t.server_cpu[c]),
            "rss": max(t.server_rss_bytes[c]),
        }
        for c in _groups(len(t.server_t_s), points)
    ]


def _groups(count: int, most: int) -> list[slice]:
    size = max(1, -(-count // most))
    return [slice(i, i + size) for i in range(0, count, size)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _most(values: Sequence[float | None]) -> float | None:
    return max((max(v, SMALLEST_S) for v in values if v is not None), default=None)


def _middle(values: Sequence[float | None]) -> float | None:
    there = sorted(max(v, SMALLEST_S) for v in values if v is not None)
    return there[len(there) // 2] if there else None


class _Panels:
    """The stacked charts of one picture; the lowest of them carries the labels of the axis of time."""

    def __init__(
        self, view: View, clients: Rows, server: Rows, data: Datasets, phases: Sequence[Phase] = ()
    ) -> None:
        self.clients, self.server, self.data = clients, server, data
        self.hue = colour(view)
        self.end = max(row["t"] for row in clients + server)
        self.client_chart = alt.Chart(data(clients))
        self.server_chart = alt.Chart(data(server)) if server else None
        shaded = [{"t": p.start_s, "end": p.end_s, "text": p.name} for p in phases]
        self.shades = alt.Chart(data(shaded[1::2])) if len(shaded) > 1 else None
        self.names = alt.Chart(data(shaded)) if len(shaded) > 1 else None

    def throughput(self) -> Any:
        """Requests completed as expected; crosses where some failed."""
        most = max(max(r["rate"], r["errors"]) for r in self.clients)
        scale = alt.Scale(domain=[0, most * 1.1 or 1.0])
        y = alt.Y("rate:Q", scale=scale, axis=_y_axis(format="~s"))
        layers = [self.client_chart.mark_line(interpolate="step").encode(x=self._x(), y=y, color=self.hue)]
        title = "requests per second"
        failed = [r for r in self.clients if r["errors"] > 0]
        if failed:
            crosses = alt.Chart(self.data(failed)).mark_point(shape="cross", size=40, opacity=0.9)
            y = alt.Y("errors:Q", scale=scale, axis=_y_axis(format="~s"))
            layers.append(crosses.encode(x=self._x(), y=y, color=self.hue))
            title += "; crosses: failed"
        if self.names is not None:
            name = self.names.mark_text(align="left", baseline="bottom", dx=3, fontSize=10, color=MUTED)
            layers.append(name.encode(x=self._x(), y=alt.value(HEIGHT - 3), text="text:N"))
        return self._panel(title, *layers)

    def clients_over_time(self) -> Any:
        """Clients at the end of each interval."""
        most = max(r["clients"] or 0 for r in self.clients)
        y = alt.Y("clients:Q", scale=alt.Scale(domain=[0, most * 1.15 or 1.0]), axis=_y_axis(format="~s"))
        line = self.client_chart.mark_line(interpolate="step-after")
        return self._panel("clients", line.encode(x=self._x(), y=y, color=self.hue))

    def response(self) -> Any:
        """Median, p99 and longest response time of each interval."""
        times = [r[k] for r in self.clients for k in ("p50", "p99", "max") if r[k] is not None] or [1e-3, 1.0]
        low, high = min(times), max(max(times), min(times) * 4)
        axis = _y_axis(labelExpr=TIME_LABEL, values=decades(low, high))
        base = self.client_chart.encode(x=self._x(), color=self.hue)

        def y(name: str) -> alt.Y:
            return alt.Y(f"{name}:Q", scale=time_scale(low, high), axis=axis)

        return self._panel(
            "response time: median solid, p99 dashed, dots the longest",
            base.mark_line().encode(y=y("p50")),
            base.mark_line(strokeDash=[4, 3], strokeWidth=1.25).encode(y=y("p99")),
            base.mark_point(filled=True, size=14, opacity=0.8).encode(y=y("max")),
        )

    def cpu(self, *, lowest: bool) -> Any:
        """Cores in use on both sides."""
        most = max([1.0, *(r["cpu"] for r in self.server), *(r["generator"] for r in self.clients)])
        scale, x = alt.Scale(domain=[0, most * 1.08]), self._x(lowest=lowest)
        generator = self.client_chart.mark_line(strokeDash=[4, 3], strokeWidth=1.25)
        y = alt.Y("generator:Q", scale=scale, axis=_y_axis())
        layers = [generator.encode(x=x, y=y, color=self.hue)]
        title = "cores in use: generator's busiest thread dashed"
        if self.server_chart is not None:
            y = alt.Y("cpu:Q", scale=scale, axis=_y_axis())
            layers.append(self.server_chart.mark_line().encode(x=x, y=y, color=self.hue))
            title = "cores in use: server solid, generator's busiest thread dashed"
        return self._panel(title, *layers, lowest=lowest)

    def lateness(self) -> Any:
        """How late the generator was itself; None where nothing is known of it."""
        times = [r[k] for r in self.clients for k in ("pacing", "lag") if r[k] is not None]
        if not times:
            return None
        low, high = min(times), max(max(times), min(times) * 4)
        axis = _y_axis(labelExpr=TIME_LABEL, values=decades(low, high))
        lowest = self.server_chart is None
        base = self.client_chart.encode(x=self._x(lowest=lowest), color=self.hue)
        title, layers = "how late the generator was: its timers at worst dashed", []
        if any(r["pacing"] is not None for r in self.clients):
            title = "how late the generator was: p99 of its sends solid, its timers at worst dashed"
            y = alt.Y("pacing:Q", scale=time_scale(low, high), axis=axis)
            layers.append(base.mark_line().encode(y=y))
        y = alt.Y("lag:Q", scale=time_scale(low, high), axis=axis)
        layers.append(base.mark_line(strokeDash=[4, 3], strokeWidth=1.25).encode(y=y))
        return self._panel(title, *layers, lowest=lowest)

    def memory(self, server_chart: alt.Chart) -> Any:
        """Resident memory of the server's whole process tree."""
        most = max(r["rss"] for r in self.server)
        axis = _y_axis(labelExpr="format(datum.value / 1e6, ',~r')")
        y = alt.Y("rss:Q", scale=alt.Scale(domain=[0, most * 1.15 or 1.0]), axis=axis)
        line = server_chart.mark_line().encode(x=self._x(lowest=True), y=y, color=self.hue)
        return self._panel("server's memory, MB resident in the whole process tree", line, lowest=True)

    def stacked(self) -> Any:
        """All of them that there is something to draw for."""
        late = self.lateness()
        lowest = self.server_chart is None and late is None
        charts = [self.throughput(), self.response(), self.cpu(lowest=lowest)]
        if late is not None:
            charts.append(late)
        if len({r["clients"] for r in self.clients if r["clients"] is not None}) > 1:
            charts.insert(1, self.clients_over_time())
        if self.server_chart is not None:
            charts.append(self.memory(self.server_chart))
        return alt.vconcat(*charts, spacing=10)

    def _panel(self, title: str, *layers: Any, lowest: bool = False) -> Any:
        """A panel with every second phase shaded behind it."""
        if self.shades is None:
            return _panel(title, *layers)
        shade = self.shades.mark_rect(color=GRID, opacity=0.5, clip=True)
        height = {"y": alt.value(0), "y2": alt.value(HEIGHT)}
        return _panel(title, shade.encode(x=self._x(lowest=lowest), x2="end:Q", **height), *layers)

    def _x(self, *, lowest: bool = False) -> alt.X:
        axis = alt.Axis(
            title="seconds from the start of the trial" if lowest else None,
            labels=lowest,
            grid=True,
            tickCount=6,
            tickSize=0,
            labelPadding=6,
        )
        return alt.X("t:Q", scale=alt.Scale(domain=[0, self.end * 1.01], nice=False), axis=axis)


def _y_axis(**more: Any) -> alt.Axis:
    return alt.Axis(title=None, tickCount=4, tickSize=0, minExtent=52, maxExtent=52, grid=False, **more)


def _panel(title: str, *layers: alt.Chart) -> Any:
    heading = alt.TitleParams(title, fontSize=11, fontWeight="normal", color=MUTED, offset=4)
    return alt.layer(*layers).properties(width=400, height=HEIGHT, title=heading)


def _title(contestant: str, drawn: list[tuple[str, TrialResult]]) -> str:
    name, trial = drawn[-1]
    longest = max((m for m in trial.timeline.max_s if m is not None), default=None)
    still = _standstill(trial.timeline)
    where = f" {name}" if len(drawn) > 1 else ""
    if still:
        return f"{contestant}{where}: nothing completes for {amount(still, 's')}."
    busiest = max(trial.timeline.server_cpu, default=None)
    told = f"; the server uses up to {busiest:.2g} cores" if busiest is not None else ""
    return f"{contestant}{where}: the longest request takes {amount(longest, 's')}{told}."


def _standstill(t: Timeline) -> float:
    """The longest time, in seconds, in which not one interval had a completed request."""
    if len(t.t_s) < 2:
        return 0.0
    step, longest, now = t.t_s[1] - t.t_s[0], 0.0, 0.0
    for rate in t.throughput_per_s:
        now = now + step if rate == 0 else 0.0
        longest = max(longest, now)
    return longest if longest > 1.5 * step else 0.0


def _table(contestant: str, drawn: list[tuple[str, TrialResult]]) -> Table:
    names = "requests | second | throughput | failed | p50 | p99 | max | generator CPU | generator late"
    table = Table(f"Over time: {contestant}", columns(names))
    for name, trial in drawn:
        for row in client_rows(name, trial.timeline, 12):
            times = [amount(row[k], "s") for k in ("p50", "p99", "max")]
            rates = [amount(row[k], "/s") for k in ("rate", "errors")]
            table.add(
                name, f"{row['t']:.2f}", *rates, *times, percent(row["generator"]), amount(row["lag"], "s")
            )
    return table
