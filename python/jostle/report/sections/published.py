"""Tables of what was published beside what was measured: claims, figures, five numbers, the set-up."""

from collections.abc import Iterable

from jostle.analysis.judge.figures import figure, figures_of
from jostle.analysis.results import Distribution, PublishedFigure, RunResult, WorkloadSummary
from jostle.formatting import MISSING, Formatted, amount, formatted
from jostle.report.tables import Table, columns
from jostle.report.text import published_per_s

__all__ = ["CLAIM_SYMBOL", "claims", "figures", "five", "five_numbers", "five_published", "parts", "setup"]

CLAIM_SYMBOL = {"reproduced": "✓", "not reproduced": "✗", "cannot tell": "?"}
PART_SYMBOL = {"holds": "✓", "fails": "✗", "cannot tell": "?"}
FIVE = ("min", "p25", "p50", "mean", "p75", "max")


def claims(result: RunResult) -> Table:
    """A row per claim: what was published, and what decides it here."""
    table = Table("Published claims", columns("verdict | claim | published | measured here"), words=4)
    for c in result.claims:
        table.add(_marked(CLAIM_SYMBOL[c.verdict], c.verdict), c.statement, c.published, c.sentence)
    return table


def parts(result: RunResult) -> Table:
    """The rule of every claim, part by part, as the plan fixed it before the run."""
    names = columns("claim | what is measured | rule | result | value and 95 % interval")
    table = Table("The rules, fixed in the plan before the run", names, words=4)
    for c in result.claims:
        for part in c.criteria:
            result_here = _marked(PART_SYMBOL[part.verdict], part.verdict)
            table.add(c.statement, part.measure, part.rule, result_here, formatted(part.estimate))
    return table


def _marked(symbol: str, verdict: str) -> str:
    return f"{symbol}\N{NO-BREAK SPACE}{verdict.replace(' ', chr(160))}"


def told(figure: PublishedFigure) -> str:
    """A figure as its author wrote it."""
    return f"{figure.value:g} {figure.unit}".rstrip()


def figures(result: RunResult) -> Table:
    """Every published figure beside the same quantity measured here; notes where there are any."""
    source = result.published[0].source if result.published else ""
    noted = any(f.note for f in result.published)
    names = columns("workload | contestant | quantity | published | measured here, mean over rounds")
    if noted:
        names.insert(3, "note")
    table = Table(f"Published figures ({source})", names, words=4 if noted else 3)
    for f in result.published:
        measured = formatted(f.measured) if f.measured is not None else Formatted("not measured", "", "")
        per_s = published_per_s(f) if f.unit.partition("/")[2] not in ("", "s") else None
        as_told = told(f) + (f" ({amount(per_s, '/s')})" if per_s is not None else "")
        about = (f.workload, f.beside or f.contestant, f.quantity, *([f.note] if noted else []))
        table.add(*about, as_told, measured)
    return table


def five_numbers(result: RunResult, summaries: Iterable[WorkloadSummary]) -> Table:
    """Smallest, quartiles, median, mean and largest response time of the requests that were answered."""
    names = columns(
        "workload | contestant | requests | min | 1st quartile | median | mean | 3rd quartile | max"
    )
    table = Table("Five numbers and the mean: response times of answered requests", names, words=2)
    for c in summaries:
        d = c.response_distribution
        table.add(c.workload, c.contestant, amount(d.n, "count"), *(amount(v, "s") for v in five(d)))
        published = five_published(result, c)
        if published:
            table.add(c.workload, f"{c.contestant}, published", "", *published)
    return table


def five(d: Distribution) -> list[float | None]:
    """In the order of `FIVE`, in seconds; None for quartiles of too few requests."""
    low, high = ([*side, None, None] for side in (d.letter_low_s, d.letter_high_s))
    median = (low[0] + high[0]) / 2 if low[0] is not None and high[0] is not None else None
    return [d.min_s, low[1], median, d.mean_s, high[1], d.max_s]


def five_published(result: RunResult, c: WorkloadSummary) -> list[str]:
    """In the order of `FIVE`; empty where none of them was published."""
    own = figures_of(c.contestant, result.published, result.contestants)
    known = [figure(own, c.workload, quantity) for quantity in FIVE]
    return [told(f) if f else MISSING for f in known] if any(known) else []


def setup(result: RunResult) -> Table:
    """What was used here."""
    table = Table("What was used here", columns("fact | here"), words=2)
    for fact, value in result.setup:
        table.add(fact, value)
    return table
