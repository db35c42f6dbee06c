"""Why requests wait: the longest stall beside slow requests, compared with the least harmed contestant."""

from collections.abc import Sequence
from dataclasses import dataclass

from jostle.analysis.results import RunResult, TrialResult
from jostle.formatting import amount
from jostle.report.charts.colours import of_contestants
from jostle.report.charts.panels import Panels, log_time_axis, value_axis, values
from jostle.report.charts.picture import Datasets, Picture, Rows
from jostle.report.charts.timeline import client_rows, server_rows, standstill
from jostle.report.charts.titles import extremes
from jostle.report.document import Table, columns
from jostle.report.views import WITH_SLOW, View, typical_metric, typical_trial

__all__ = ["LongestStall", "find_stall", "stall"]

MAX_POINTS = 300
AROUND = 0.5  # how much is shown before and after the stall, as a share of its length


@dataclass(frozen=True)
class LongestStall:
    """The longest standstill of a view: whose and when, and the trial that it is compared with."""

    view: View
    trials: tuple[tuple[str, TrialResult], ...]  # the stalled contestant first
    begin_s: float
    length_s: float

    @property
    def span_s(self) -> tuple[float, float]:
        """The part of the trial that is shown."""
        end = max(t.timeline.t_s[-1] for _, t in self.trials)
        room = AROUND * self.length_s
        return max(0.0, self.begin_s - room), min(end, self.begin_s + self.length_s + room)


def find_stall(result: RunResult, views: Sequence[View]) -> LongestStall | None:
    """The longest time without a completed request beside slow ones; None if no contestant stalled."""
    found = [s for view in views if view.paired and (s := _of_view(result, view)) is not None]
    return max(found, key=lambda s: s.length_s, default=None)


def _of_view(result: RunResult, view: View) -> LongestStall | None:
    workload = {p.contestant: s.workload for p in view.panels for s in p.series if s.name == WITH_SLOW}
    trials = {name: t for name, w in workload.items() if (t := typical_trial(result, name, w))}
    still = {name: standstill(t.timeline) for name, t in trials.items()}
    worst = max(still, key=lambda name: still[name][1], default="")
    if not worst or not still[worst][1]:
        return None
    best = extremes(view)[1].contestant
    shown = [name for name in dict.fromkeys([worst, best]) if name in trials]
    return LongestStall(view, tuple((name, trials[name]) for name in shown), *still[worst])


def stall(found: LongestStall) -> Picture:
    """Completed requests, their times, and the server's CPU, one below the other on one axis of time."""
    data = Datasets()
    names = [name for name, _ in found.trials]
    clients: Rows = []
    server: Rows = []
    for name, trial in found.trials:
        clients += client_rows(name, WITH_SLOW, trial.timeline, MAX_POINTS)
        server += server_rows(name, WITH_SLOW, trial.timeline, MAX_POINTS)
    hue = {"color": of_contestants(found.view.order, names, legend=True)}
    panels = Panels(data, hue, found.span_s, (), 760)
    rows = data(clients)
    rate = value_axis("requests/s", values(clients, "rate"))
    panels.add("completed requests per second", panels.line(rows, "rate", rate, {"interpolate": "step"}))
    times = log_time_axis("response time", values(clients, "p50", "max"))
    dots = {"filled": True, "size": 22}
    title = "their response times: median (line), longest (dots)"
    panels.add(title, panels.line(rows, "p50", times), panels.points(rows, "max", times, dots))
    if server:
        cores = value_axis("cores", [1.0, *values(server, "cpu")])
        panels.add("CPU of the server, cores in use", panels.line(data(server), "cpu", cores))
    return Picture(_title(found), _reading(found), panels.stacked(), _table(clients), data.rows)


def _title(found: LongestStall) -> str:
    """A sentence about what the panels show. The other contestant's rates are given as a range, because a
    mean over intervals that differ would be misleading.
    """
    (stalled, trial), *others = found.trials
    begin, end = found.begin_s, found.begin_s + found.length_s
    text = f"{stalled} completes nothing from {amount(begin, 's')} to {amount(end, 's')} of its trial"
    line = trial.timeline
    busy = [c for t, c in zip(line.server_t_s, line.server_cpu, strict=True) if begin <= t <= end]
    if busy:
        text += f" while using {amount(sum(busy) / len(busy), '')} cores"
    for name, other in others:
        done = [
            rate
            for t, rate in zip(other.timeline.t_s, other.timeline.throughput_per_s, strict=True)
            if begin <= t <= end
        ]
        if done:
            text += f"; in that part of its own trial, {name} completes {_between(done)}"
    return text + "."


def _between(rates: Sequence[float]) -> str:
    """The lowest and the highest rate, per second."""
    lowest, highest = (amount(end, "/s") for end in (min(rates), max(rates)))
    return highest if lowest == highest else f"{lowest} to {highest}"


def _reading(found: LongestStall) -> str:
    numbers = " and ".join(f"trial {t.number} ({name})" for name, t in found.trials)
    which = "the trial" if len(found.trials) == 1 else "the trials"
    median = typical_metric(t for _, t in found.trials)
    return f"{found.view.title}. Shown, with slow requests: {which} of median {median}, {numbers}."


def _table(clients: Rows) -> Table:
    table = Table("Around the stall", columns("contestant", "second | completed | p50 | longest"))
    for row in clients:
        times = [amount(row[k], "s") for k in ("p50", "max")]
        table.add(row["contestant"], f"{row['t']:.2f}", amount(row["rate"], "/s"), *times)
    return table
