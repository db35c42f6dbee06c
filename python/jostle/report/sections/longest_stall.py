"""Why requests wait: one stall in detail, with the server's CPU below it."""

from functools import partial

from jostle.analysis.results import RunResult
from jostle.report import charts
from jostle.report.document import Block, Depth, Figure, Section
from jostle.report.views import views

__all__ = ["section"]


def section(result: RunResult) -> Section:
    """Empty if no contestant stalled."""
    found = charts.find_stall(result, views(result))
    blocks: list[Block] = [Figure("stall", partial(charts.stall, found))] if found else []
    return Section("Why: one stall in detail", blocks, Depth.MAIN, key="why", short="Why")
