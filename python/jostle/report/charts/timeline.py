"""A trial over time: throughput, response times, CPU of server and generator, and the server's memory."""

from collections.abc import Sequence

from jostle.analysis.results import RunResult, Timeline, TrialResult
from jostle.formatting import amount, percent
from jostle.report.charts.colours import BY_STRENGTH, of_contestants, strength
from jostle.report.charts.panels import (
    DASHED,
    Panels,
    groups,
    log_time_axis,
    longest_of,
    mean,
    middle_of,
    value_axis,
    values,
)
from jostle.report.charts.picture import Datasets, Picture, Rows, Spec
from jostle.report.document import Table, columns
from jostle.report.views import Panel, View, typical_metric, typical_trial
from jostle.units import format_number

__all__ = ["client_rows", "server_rows", "standstill", "timeline"]

TABLE_POINTS = 12


def timeline(result: RunResult, view: View, panel: Panel, points: int) -> Picture | None:
    """All series of one contestant over time; None if nothing was recorded."""
    found = [(s.name, typical_trial(result, panel.contestant, s.workload)) for s in panel.series]
    drawn = [(name, trial) for name, trial in found if trial is not None]
    if not drawn:
        return None
    data = Datasets()
    who = panel.contestant
    clients = [row for name, trial in drawn for row in client_rows(who, name, trial.timeline, points)]
    server = [row for name, trial in drawn for row in server_rows(who, name, trial.timeline, points)]
    end_s = max(row["t"] for row in clients + server)
    hue = {"color": of_contestants(view.order, [panel.contestant]), **strength(view)}
    shown = drawn[-1][1].timeline
    panels = Panels(data, hue, (0, end_s), shown.phases, 760, shown.marks)
    _add(panels, data, clients, server)
    numbers = " and ".join(f"trial {t.number}" + (f" ({n})" if view.paired else "") for n, t in drawn)
    median = typical_metric(trial for _, trial in drawn)
    reading = f"Shown: the trial with median {median}, {numbers}. " + (BY_STRENGTH if view.paired else "")
    table = _table(panel.contestant, drawn)
    return Picture(_title(panel.contestant, drawn), reading.strip(), panels.stacked(), table, data.rows)


def _add(panels: Panels, data: Datasets, clients: Rows, server: Rows) -> None:
    """Adds the panels that have something to show; clients and the server's memory only if they change."""
    rows = data(clients)
    _throughput(panels, data, clients, rows)
    if len({r["clients"] for r in clients if r["clients"] is not None}) > 1:
        y = value_axis("clients", values(clients, "clients"), room=1.15)
        panels.add("clients", panels.line(rows, "clients", y, {"interpolate": "step-after"}))
    y = log_time_axis("response time", values(clients, "p50", "p99", "max"))
    panels.add(
        "response time: median solid, p99 dashed, dots the longest",
        panels.line(rows, "p50", y),
        panels.line(rows, "p99", y, DASHED),
        panels.points(rows, "max", y, {"filled": True, "size": 14, "opacity": 0.8}),
    )
    resource_usage = data(server) if server else None
    y = value_axis("cores", [1.0, *values(clients, "generator"), *values(server, "cpu")])
    cores = [panels.line(rows, "generator", y, DASHED)]
    cores += [panels.line(resource_usage, "cpu", y)] if resource_usage else []
    panels.add(
        f"cores in use: {'server solid, ' if resource_usage else ''}generator's busiest thread dashed", *cores
    )
    _lateness(panels, clients, rows)
    if resource_usage and _moves(values(server, "rss")):
        y = value_axis("MB", values(server, "rss"), unit="MB", room=1.15)
        panels.add(
            "server's memory, MB resident in the whole process tree", panels.line(resource_usage, "rss", y)
        )


def _throughput(panels: Panels, data: Datasets, clients: Rows, rows: Spec) -> None:
    """Adds the requests completed as expected, with crosses where some failed."""
    y = value_axis("requests/s", values(clients, "rate", "errors"))
    layers = [panels.line(rows, "rate", y, {"interpolate": "step"})]
    failed = [r for r in clients if r["errors"] > 0]
    if failed:
        layers.append(
            panels.points(data(failed), "errors", y, {"shape": "cross", "size": 40, "opacity": 0.9})
        )
    panels.add("requests per second" + ("; crosses: failed" if failed else ""), *layers)


def _lateness(panels: Panels, clients: Rows, rows: Spec) -> None:
    """Adds how late the generator itself was, if that is known."""
    times = [v for v in values(clients, "pacing", "lag") if v is not None]
    if not times:
        return
    y, title = log_time_axis("late by", times), "how late the generator was: its timers at worst dashed"
    layers = [panels.line(rows, "lag", y, DASHED)]
    if any(r["pacing"] is not None for r in clients):
        title = "how late the generator was: p99 of its sends solid, its timers at worst dashed"
        layers.append(panels.line(rows, "pacing", y))
    panels.add(title, *layers)


def client_rows(contestant: str, name: str, t: Timeline, points: int) -> Rows:
    """At most `points` rows: neighbouring intervals are merged, keeping the largest p99 and maximum."""
    rows: Rows = []
    for cut in groups(len(t.t_s), points):
        row: Spec = {"contestant": contestant, "series": name, "t": mean(t.t_s[cut])}
        row |= {"rate": mean(t.throughput_per_s[cut]), "errors": mean(t.errors_per_s[cut])}
        row |= {"p50": middle_of(t.p50_s[cut]), "p99": longest_of(t.p99_s[cut])}
        row |= {"max": longest_of(t.max_s[cut]), "generator": mean(t.generator_cpu[cut])}
        row |= {"clients": next((c for c in reversed(t.clients[cut]) if c is not None), None)}
        row |= {"pacing": longest_of(t.generator.pacing_p99_s[cut])}
        row |= {"lag": longest_of(t.generator.loop_lag_max_s[cut])}
        rows.append(row)
    return rows


def server_rows(contestant: str, name: str, t: Timeline, points: int) -> Rows:
    """What the server used, at the times of its own samples, merged to at most `points` rows."""
    return [
        {
            "contestant": contestant,
            "series": name,
            "t": mean(t.server_t_s[c]),
            "cpu": mean(t.server_cpu[c]),
            "rss": max(t.server_rss_bytes[c]),
        }
        for c in groups(len(t.server_t_s), points)
    ]


def _title(contestant: str, drawn: list[tuple[str, TrialResult]]) -> str:
    name, trial = drawn[-1]
    longest = max((m for m in trial.timeline.max_s if m is not None), default=None)
    still = standstill(trial.timeline)[1]
    where = f" {name}" if len(drawn) > 1 else ""
    if still:
        return f"{contestant}{where}: nothing completes for {amount(still, 's')}."
    busiest = max(trial.timeline.server_cpu, default=None)
    number = "" if busiest is None else format_number(busiest)
    used = f"; the server uses up to {number} core{'' if number == '1' else 's'}" if number else ""
    return f"{contestant}{where}: the longest request takes {amount(longest, 's')}{used}."


def standstill(t: Timeline) -> tuple[float, float]:
    """(start, length), in seconds, of the longest time without a completed request; (0, 0): there is none."""
    if len(t.t_s) < 2:
        return 0.0, 0.0
    step = t.t_s[1] - t.t_s[0]
    begin, longest, now = 0.0, 0.0, 0.0
    for middle, rate in zip(t.t_s, t.throughput_per_s, strict=True):
        now = now + step if rate == 0 else 0.0
        if now > longest:
            begin, longest = middle + step / 2 - now, now
    return (begin, longest) if longest > 1.5 * step else (0.0, 0.0)


def _moves(found: Sequence[float | None]) -> bool:
    """Whether the values change enough to be worth drawing."""
    known = [v for v in found if v is not None]
    return max(known) > 1.1 * min(known)


def _table(contestant: str, drawn: list[tuple[str, TrialResult]]) -> Table:
    names = "second | throughput | failed | p50 | p99 | longest | generator CPU | generator late"
    table = Table(f"Over time: {contestant}", columns("load", names))
    for name, trial in drawn:
        for row in client_rows(contestant, name, trial.timeline, TABLE_POINTS):
            rates = [amount(row[k], "/s") for k in ("rate", "errors")]
            times = [amount(row[k], "s") for k in ("p50", "p99", "max")]
            ends = (percent(row["generator"]), amount(row["lag"], "s"))
            table.add(name, f"{row['t']:.2f}", *rates, *times, *ends)
    return table
