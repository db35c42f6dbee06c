"""The article's pictures in the article's form: the published data beside what was measured here."""

from collections.abc import Iterator
from functools import partial

from jostle.analysis.results import RunResult, WorkloadSummary
from jostle.analysis.results.published_figure import figure
from jostle.plan.recorded import RecordedPlan
from jostle.report import charts
from jostle.report.document import Depth, Figure, Section
from jostle.report.workload import quantile_of_all

__all__ = ["section"]

FIVE = ("min", "p25", "p50", "p75", "max")


def section(result: RunResult) -> Section:
    """A picture for each one that the plan names; empty if it names none."""
    return Section("As the article drew it", list(_figures(result)), Depth.MAIN, key="as-drawn")


def _figures(result: RunResult) -> Iterator[Figure]:
    published = RecordedPlan.parse(result.plan_text).published
    order = list(result.contestants)
    for drawn in published.pictures if published else []:
        found = [s for s in result.summaries if s.workload == drawn.workload]
        if not found:
            continue
        title, key = found[0].title, f"{drawn.form}-{drawn.workload}"
        if drawn.form == "ranks":
            yield Figure(key, partial(charts.ranks, title, found, order))
        elif not (theirs := _published(result, found)):
            continue
        elif drawn.form == "density":
            yield Figure(f"linear-{key}", partial(charts.densities, title, theirs, found, order))
        elif here := _measured(found):
            yield Figure(key, partial(charts.boxes, title, theirs, here, order))


def _measured(found: list[WorkloadSummary]) -> list[charts.Box]:
    boxes = []
    for summary in found:
        d = summary.response_distribution
        middle = [quantile_of_all(d, p) for p in (0.25, 0.5, 0.75)]
        values = [d.min_s, *middle, d.max_s]
        if all(value is not None for value in values):
            boxes.append(charts.Box(summary.contestant, *(float(value or 0.0) for value in values)))
    return boxes


def _published(result: RunResult, found: list[WorkloadSummary]) -> list[charts.Box]:
    boxes = []
    for summary in found:
        about = (summary.contestant, summary.workload)
        known = [figure(result.published, *about, metric) for metric in FIVE]
        values = [f.amount for f in known if f is not None and f.amount is not None]
        if len(values) == len(FIVE):
            boxes.append(charts.Box(summary.contestant, *values))
    return boxes
