"""Which distributions are shown side by side in one picture.

A view is one comparison: one form of the starvation experiment, or one workload. It has a panel per
contestant; a panel has one series (a workload) or two ("alone" and "with slow").
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from jostle.analysis.results import (
    Distribution,
    Estimate,
    RunResult,
    StarvationResult,
    TrialResult,
    WorkloadSummary,
)
from jostle.analysis.stats.enough import REQUESTS_FOR_A_SHAPE
from jostle.report.workload import unanswered, unanswered_label

__all__ = [
    "ALONE",
    "WITH_SLOW",
    "Panel",
    "Series",
    "View",
    "contestants",
    "find_summary",
    "typical_metric",
    "typical_trial",
    "views",
]

ALONE = "alone"
WITH_SLOW = "with slow"


@dataclass(frozen=True)
class Series:
    """One set of times, and the workload it comes from."""

    name: str
    workload: str
    response: dict[str, Estimate]
    distribution: Distribution  # of the answered requests
    unanswered: float = 0.0  # the share of all requests that the distribution does not contain
    unanswered_label: str = ""


@dataclass(frozen=True)
class Panel:
    """The results of one contestant."""

    contestant: str
    series: list[Series]
    starvation: StarvationResult | None = None


@dataclass(frozen=True)
class View:
    """One comparison. `key` is safe in file names and as an HTML id."""

    key: str
    title: str
    panels: list[Panel]
    order: tuple[str, ...]  # all contestants of the run; a contestant's place here determines its colour
    open_loop: bool = False

    @property
    def paired(self) -> bool:
        """Whether the panels compare times beside slow requests with times alone."""
        return any(p.starvation for p in self.panels)


def contestants(result: RunResult) -> tuple[str, ...]:
    """All contestants of the run; those with results come first."""
    return tuple(dict.fromkeys([*(c.contestant for c in result.summaries), *result.contestants]))


def views(result: RunResult) -> list[View]:
    """The comparisons of a run: every form of the starvation experiment, then every other workload."""
    forms = dict.fromkeys(s.form for s in result.starvation)
    found = [_starvation_view(result, i, form) for i, form in enumerate(forms, 1)]
    compared = {w for s in result.starvation for w in (s.alone_workload, s.with_workload)}
    for i, workload in enumerate(
        dict.fromkeys(c.workload for c in result.summaries if c.workload not in compared), 1
    ):
        view = _workload_view(result, i, workload)
        if not result.starvation or _crowded(view):
            found.append(view)
    return [v for v in found if v.panels]


def _crowded(view: View) -> bool:
    """Whether there are enough requests for a picture. Beside a starvation comparison, a workload with only a
    handful of requests (the slow one) has none.
    """
    return any(s.distribution.n >= REQUESTS_FOR_A_SHAPE for p in view.panels for s in p.series)


def _starvation_view(result: RunResult, number: int, form: str) -> View:
    panels = []
    title = form
    for starvation in (s for s in result.starvation if s.form == form):
        title = starvation.title or form
        pairs = [(ALONE, starvation.alone_workload), (WITH_SLOW, starvation.with_workload)]
        cells = [(name, find_summary(result, starvation.contestant, workload)) for name, workload in pairs]
        series = [_series(name, cell) for name, cell in cells if cell and _drawn(cell)]
        if series:
            panels.append(Panel(starvation.contestant, series, starvation))
    workloads = {s.workload for p in panels for s in p.series}
    open_loop = any(t.offered_per_s is not None for t in result.trials if t.workload in workloads)
    return View(f"form-{number}", title, panels, contestants(result), open_loop)


def _workload_view(result: RunResult, number: int, workload: str) -> View:
    cells = [c for c in result.summaries if c.workload == workload and _drawn(c)]
    title = (cells[0].title if cells else "") or workload
    panels = [Panel(c.contestant, [_series(workload, c)]) for c in cells]
    return View(f"workload-{number}", title, panels, contestants(result))


def _series(name: str, cell: WorkloadSummary) -> Series:
    label = unanswered_label(cell.outcomes)
    found = cell.response_distribution
    return Series(name, cell.workload, cell.response, found, unanswered(cell.outcomes), label)


def _drawn(cell: WorkloadSummary) -> bool:
    """Whether there was any request: if none was answered, that is what the picture shows."""
    return cell.response_distribution.n > 0 or unanswered(cell.outcomes) > 0


def find_summary(result: RunResult, contestant: str, workload: str) -> WorkloadSummary | None:
    """The summary of a contestant under a workload, or None if it was not measured."""
    return next((c for c in result.summaries if (c.contestant, c.workload) == (contestant, workload)), None)


def typical_trial(result: RunResult, contestant: str, workload: str) -> TrialResult | None:
    """The trial to draw over time: of the most trustworthy ones, that with the median throughput, or with the
    median p99 in an open loop, whose throughput is determined by the plan. None if there is no trial."""
    ran = [
        t
        for t in result.trials
        if (t.contestant, t.workload) == (contestant, workload) and t.status != "failed" and t.timeline.t_s
    ]
    if not ran:
        return None
    best = min(t.validity.verdict.rank for t in ran)
    trusted = [t for t in ran if t.validity.verdict.rank == best]
    by = _p99 if typical_metric(trusted) == "p99" else _throughput
    return sorted(trusted, key=lambda t: (by(t), t.number))[len(trusted) // 2]


def typical_metric(trials: Iterable[TrialResult]) -> Literal["p99", "throughput"]:
    """The figure by which the typical one of these trials is chosen."""
    return "p99" if all(t.offered_per_s is not None for t in trials) else "throughput"


def _p99(trial: TrialResult) -> float:
    found = trial.response.get("p99")
    return math.inf if found is None or found.value is None else found.value


def _throughput(trial: TrialResult) -> float:
    return trial.throughput_per_s
