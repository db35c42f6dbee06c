"""The pictures of a report: pure functions that make a `Picture` of what the analysis says."""

from jostle.analysis.results import RunResult
from jostle.report.charts.common import Picture
from jostle.report.charts.costs import cost_pictures
from jostle.report.charts.phased import crowd_pictures
from jostle.report.charts.shapes import density, letter_values
from jostle.report.charts.shift import shift
from jostle.report.charts.tails import nines, survival
from jostle.report.charts.throughput import completed, throughput
from jostle.report.charts.timeline import timeline
from jostle.report.views import View, find_summary, views

__all__ = [
    "Picture",
    "completed",
    "cost_pictures",
    "crowd_pictures",
    "density",
    "distributions",
    "letter_values",
    "nines",
    "over_time",
    "overview",
    "shifts",
    "survival",
    "throughput",
    "timeline",
]

# A page stays under 3 MB however long the run and however many the contestants.
MOST_CURVE_POINTS = 12_000
MOST_TIMELINE_POINTS = 4_000
MOST_TIMELINES = 16


def overview(result: RunResult, view: View) -> Picture | None:
    """The picture of throughput for one comparison; None where one bar would be all."""
    if view.paired:
        return throughput(result, view)
    found = (find_summary(result, p.contestant, p.series[0].workload) for p in view.panels)
    summaries = [c for c in found if c is not None]
    return completed(view, summaries) if len(summaries) > 1 else None


def distributions(result: RunResult, view: View) -> list[Picture]:
    """The pictures of response times for one comparison; the more series, the fewer points of each."""
    series = sum(len(p.series) for v in views(result) for p in v.panels)
    points = max(30, min(160, MOST_CURVE_POINTS // (3 * series)))
    return [density(view, points), letter_values(view), nines(view, points), survival(view, points)]


def over_time(result: RunResult, view: View) -> list[Picture]:
    """A timeline for each contestant of one comparison, at most `MOST_TIMELINES` on a page."""
    found = views(result)
    total = sum(len(p.series) for v in found for p in v.panels)
    points = max(40, min(200, MOST_TIMELINE_POINTS // total))
    room = max(1, MOST_TIMELINES // len(found))
    pictures = (timeline(result, view, panel, points) for panel in view.panels[:room])
    return [p for p in pictures if p is not None]


def shifts(result: RunResult) -> list[Picture | None]:
    """The shift function of each comparison of the run; None where it has no bands."""
    return [shift(number, c) for number, c in enumerate(result.comparisons, 1)]
