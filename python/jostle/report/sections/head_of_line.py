"""HTTP/2: the streams of one connection that waited for one another."""

from functools import partial

from jostle.analysis.results import RunResult
from jostle.report import charts
from jostle.report.document import Block, Figure, Section

__all__ = ["section"]

MAX_STREAMS = 4
"""How many pictures are shown, those of the longest waits; the record contains all waits."""


def section(result: RunResult) -> Section:
    """Empty if no stream waited for another one."""
    blocks: list[Block] = [
        Figure(f"head-of-line-{n}", partial(charts.head_of_line, found))
        for n, found in enumerate(result.head_of_line[:MAX_STREAMS], 1)
    ]
    return Section("Streams that waited for one another", blocks, key="head-of-line")
