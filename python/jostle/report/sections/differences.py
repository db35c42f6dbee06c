"""Differences between two contestants or two runs: a sentence and an interval for each metric."""

import textwrap
from functools import partial

from jostle.analysis.compare.sentences import direction, size_of_effect
from jostle.analysis.results import Comparison, Difference, Estimate, RunResult
from jostle.formatting import MISSING, Formatted, formatted, percent, points, ratio
from jostle.record.verdict import Verdict
from jostle.report import charts
from jostle.report.document import (
    NOTHING,
    Block,
    Column,
    Depth,
    Figure,
    Paragraph,
    Section,
    Statement,
    Statements,
    Table,
    Value,
)

__all__ = ["comparison", "section", "table"]

INVALID, NOT_COMPARED = "invalid", "not compared"

NARROW = 16
"""The longest name at the head of a column in a terminal."""

HOW = (
    "Each contestant is compared with the first one of the plan, paired by round. Figures in brackets are "
    "95 % confidence intervals over rounds; differences are taken before rounding. Cliff’s delta, from −1 to "
    "1, is the chance that a request takes longer than one to the first contestant, minus the chance that it "
    "takes less time."
)


def section(result: RunResult) -> Section:
    """All comparisons of the run: their sentences, and a folded table for each."""
    blocks: list[Block] = [Statements([Statement(f"{c.workload}: {c.sentence}") for c in result.comparisons])]
    blocks.append(Paragraph(HOW, small=True))
    for number, c in enumerate(result.comparisons, 1):
        title = f"{c.workload}: {c.b} against {c.a}"
        figure = Figure(f"shift-{number}", partial(charts.shift, c))
        blocks.append(Section(title, [figure, table(c)], Depth.DETAIL, folded=True))
    return Section("Differences", blocks if result.comparisons else [], Depth.MAIN, key="comparison")


def comparison(c: Comparison) -> Section:
    """One comparison by itself: in a sentence, as a table, and why figures are not in it."""
    decided = any(d.difference.low is not None for d in c.differences)
    not_compared = [d.sentence for d in c.differences if decided and _finding(d) in (INVALID, NOT_COMPARED)]
    sentences = Statements([Statement(sentence) for sentence in not_compared])
    return Section(c.title, [Statements([Statement(c.sentence)]), table(c, narrow=True), sentences])


def table(c: Comparison, *, narrow: bool = False) -> Table:
    """A row per metric of two contestants. `narrow`: within 80 columns, with one interval in a row."""
    short = (textwrap.shorten(name, NARROW, placeholder="…") if narrow else None for name in (c.a, c.b))
    names = [
        Column("metric", "word", ""),
        *(Column(name, short=cut) for name, cut in zip((c.a, c.b), short, strict=True)),
        Column("difference", short="difference"),
        Column("ratio", short="ratio", intervals=True),
        Column("finding", "word"),
    ]
    found = Table(f"{c.title}: {c.b} against {c.a}", names)
    for d in c.differences:
        found.add(d.metric, *_sides(d), _finding(d))
    word = size_of_effect(c.cliffs_delta) or "undecided"
    found.add("Cliff's delta", "", "", formatted(c.cliffs_delta), "", word)
    return found


def _finding(d: Difference) -> str:
    if d.verdict is Verdict.INVALID:
        return INVALID
    if d.difference.value is None and d.ratio.value is None:
        return NOT_COMPARED
    if d.finding == "same":
        return f"no more than {percent(d.within)} apart"
    return d.finding if d.finding in ("undecided", "may be chance") else direction(d)


def _sides(d: Difference) -> list[Value]:
    if d.metric == "errors":
        return [percent(d.a.value), percent(d.b.value), _points(d.difference), NOTHING]
    difference = formatted(d.difference)
    if d.ratio.low is not None:  # show only one interval: the ratio's, which decides
        difference = difference._replace(interval="")
    return [formatted(d.a), formatted(d.b), difference, ratio(d.ratio)]


def _points(e: Estimate) -> Formatted:
    """A difference of shares, in percentage points."""
    if e.value is None:
        return Formatted(MISSING, "", e.note)
    value, _, ends = points(e.value, e.low, e.high).partition(" [")
    return Formatted(value, f"[{ends}" if ends else "", e.note)
