"""What happened when: one trial of each contestant, drawn over time."""

from functools import partial

from jostle.analysis.results import RunResult
from jostle.report import charts
from jostle.report.document import Block, Depth, Figure, Paragraph, Section
from jostle.report.views import View, views

__all__ = ["first_timeline", "section"]

MAX_POINTS = 4_000
MAX_TIMELINES = 16
MAX_POINTS_OF_ONE = 200


def section(result: RunResult) -> Section:
    """A part for each comparison, limited so that the page stays small however many contestants there are.

    Of a single server there is only one picture, which stands at the top.
    """
    found = views(result) if len(result.summaries) != 1 else []
    series = sum(len(p.series) for v in found for p in v.panels)
    points = max(40, min(MAX_POINTS_OF_ONE, MAX_POINTS // max(series, 1)))
    parts = [_view(result, view, points, max(1, MAX_TIMELINES // len(found))) for view in found]
    return Section("Over time", parts, Depth.MAIN, key="timeline", folded=True)


def first_timeline(result: RunResult, view: View) -> Figure:
    """The first contestant of a view over time."""
    return Figure(
        f"timeline-{view.key}-1", partial(charts.timeline, result, view, view.panels[0], MAX_POINTS_OF_ONE)
    )


def _view(result: RunResult, view: View, points: int, max_panels: int) -> Section:
    drawn = view.panels[:max_panels]
    blocks: list[Block] = [
        Figure(
            f"timeline-{view.key}-{number}",
            partial(charts.timeline, result, view, panel, points),
        )
        for number, panel in enumerate(drawn, 1)
    ]
    if len(drawn) < len(view.panels):
        counts = f"The first {len(drawn)} of {len(view.panels)} contestants"
        text = f"{counts}; the intervals of all are in the record."
        blocks.insert(0, Paragraph(text, small=True))
    return Section(view.title, blocks, Depth.MAIN)
