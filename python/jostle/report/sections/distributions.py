"""The distributions of the response times of all requests: shapes, percentiles, five numbers, parts."""

from collections.abc import Iterable
from functools import partial

from jostle.analysis.results import RunResult, WorkloadSummary
from jostle.analysis.results.published_figure import figure
from jostle.formatting import MISSING, amount, percent
from jostle.report import charts
from jostle.report.document import Depth, Figure, Paragraph, Section, Table, Tabs, columns
from jostle.report.views import View, views
from jostle.report.workload import NOT_OK, as_published, quantiles, unanswered

__all__ = ["five_numbers", "section", "times"]

MAX_UNFOLDED = 3
"""If there are more comparisons than this, each of them is folded."""

RESOLUTION_S = 1e-6

FIVE = ("min", "p25", "p50", "mean", "p75", "max")
HOW_DRAWN = (
    "The curves show the requests of all rounds together; titles and tables give the figures of a typical "
    "round (the geometric mean over the rounds). So where the rounds differ, a curve need not cross 50 % at "
    "the median."
)
HOW_FIVE = (
    "Median and quartiles are those of a typical round. The shortest and the longest response are those of "
    "all rounds, and so is the plain mean, which is given where all were answered (the mean of a claim is an "
    "estimate that takes account of the others). Response times count from the "
    "moment a request was due, service times from the moment it was sent."
)

PARTS = {
    "connect": "connect (new connections)",
    "dns": "connect: name",
    "tcp": "connect: TCP",
    "tls": "connect: TLS",
    "headers": "sent to headers",
    "body": "headers to end",
}


def section(result: RunResult) -> Section:
    """One part for each comparison; folded, as most readers do not need it."""
    found = views(result)
    series = sum(len(p.series) for v in found for p in v.panels)
    parts = [_view(result, view, series, folded=len(found) > MAX_UNFOLDED) for view in found]
    return Section("Distributions", parts, Depth.MAIN, key="distributions", folded=True)


def _view(result: RunResult, view: View, series: int, *, folded: bool) -> Section:
    workloads = {s.workload for p in view.panels for s in p.series}
    chosen = [c for c in result.summaries if c.workload in workloads]
    points, alone = charts.points_per_curve(series), len(result.summaries) == 1
    figures = (
        ("ECDF", Figure(f"ecdf-{view.key}", partial(charts.ecdf, view, points))),
        ("Percentiles", Figure(f"percentiles-{view.key}", partial(charts.percentiles, view, points))),
        ("Density", Figure(f"density-{view.key}", partial(charts.density, view, points))),
    )
    return Section(
        view.title,
        [
            Paragraph(HOW_DRAWN, small=True),
            *([Figure(f"strips-{view.key}", partial(charts.strips, [view]))] if alone else []),
            Tabs(f"Response times: {view.title}", figures),
            five_numbers(result, chosen),
            Section("", [Paragraph(HOW_FIVE, small=True), times(chosen)], Depth.DETAIL),
        ],
        Depth.MAIN,
        folded=folded,
    )


def five_numbers(result: RunResult, chosen: Iterable[WorkloadSummary]) -> Table:
    """Median and quartiles of a typical round, the extremes of all responses, and the mean if all requests
    were answered.
    """
    names = columns(
        "workload = | contestant =",
        f"requests | {NOT_OK} = | shortest = | 1st quartile = p25 | median = | mean"
        " | 3rd quartile = p75 | longest response = longest",
    )
    table = Table("Quartiles and extremes", names)
    for c in chosen:
        missing, total = unanswered(c.outcomes), sum(c.outcomes.values())
        table.add(c.workload, c.contestant, amount(total, "count"), percent(missing), *_five(c))
        if published := _published(result, c):
            table.add(c.workload, f"{c.contestant}, published", "", "", *published)
    return table


def _five(c: WorkloadSummary) -> list[str]:
    """The measured figures, in the order of `FIVE`."""
    d = c.response_distribution
    low, median, high = quantiles({**c.quartiles, **c.response}, ["p25", "p50", "p75"])
    mean = amount(d.mean_s, "s") if unanswered(c.outcomes) == 0 else MISSING
    return [amount(d.min_s, "s"), low.value, median.value, mean, high.value, amount(d.max_s, "s")]


def _published(result: RunResult, c: WorkloadSummary) -> list[str]:
    """The published figures, in the order of `FIVE`; empty if none was published."""
    known = [figure(result.published, c.contestant, c.workload, metric) for metric in FIVE]
    return [as_published(f) if f else MISSING for f in known] if any(known) else []


def times(chosen: Iterable[WorkloadSummary]) -> Table:
    """Response times, service times and the parts of the latter, a row each."""
    names = columns("workload | contestant | time", "mean | p50 | p90 | p95 | p99 | p99.9 | max")
    table = Table("Response and service times, and their parts", names)
    for c in chosen:
        kinds = {"response": c.response, "service": c.service}
        kinds |= {PARTS[part]: found for part, found in c.parts.items()}
        for kind, found in kinds.items():
            if all((e.value or 0.0) <= RESOLUTION_S for e in found.values()):
                continue  # no more than the resolution of the clock
            table.add(c.workload, c.contestant, kind, *quantiles(found))
    return table
