"""Throughput as bars: alone and with the slow request, or by contestant."""

from functools import partial

from jostle.analysis.results import RunResult
from jostle.report import charts
from jostle.report.document import Depth, Figure, Section
from jostle.report.views import View, contestants, views

__all__ = ["section"]


def section(result: RunResult) -> Section:
    """A picture for each comparison with more than one bar."""
    figures = [figure for view in views(result) for figure in _of(result, view)]
    return Section("Throughput", figures, Depth.DETAIL, key="throughput", folded=True)


def _of(result: RunResult, view: View) -> list[Figure]:
    if view.paired:
        return [Figure(f"throughput-{view.key}", partial(charts.throughput, view))]
    workloads = {s.workload for p in view.panels for s in p.series}
    chosen = [c for c in result.summaries if c.workload in workloads]
    draw = partial(charts.completed, view.title, chosen, contestants(result), result.published)
    return [Figure(f"throughput-{view.key}", draw)] if len(chosen) > 1 else []
