"""Datagrams: what became of them, and of their responses."""

from collections import Counter

from jostle.analysis.results import RunResult
from jostle.formatting import amount, percent
from jostle.report.document import Block, Depth, Paragraph, Section, Table, columns

__all__ = ["section"]

HOW = (
    "Lost is what had no response within the timeout, whichever of the two datagrams got lost; a late "
    "response is that of a request which counts as lost. A response was overtaken if one to a later request "
    "of the same client came first. Strays answer no request that their client remembers."
)


def section(result: RunResult) -> Section:
    """Sums over all rounds; empty if no workload uses UDP."""
    cells: dict[tuple[str, str], Counter[str]] = {}
    for trial in result.trials:
        if trial.datagrams:
            cells.setdefault((trial.workload, trial.contestant), Counter()).update(trial.datagrams)
    names = columns(
        "workload = | contestant =",
        "sent = | answered = | lost = | late = | overtaken = | twice = | strays =",
    )
    table = Table("What became of them", names)
    for (workload, contestant), counts in cells.items():
        lost = counts["lost"]
        share = f" ({percent(lost / counts['sent'])})" if lost else ""
        table.add(
            workload,
            contestant,
            amount(counts["sent"], "count"),
            amount(counts["answered"], "count"),
            f"{amount(lost, 'count')}{share}",
            *(amount(counts[name], "count") for name in ("late", "overtaken", "duplicates", "strays")),
        )
    blocks: list[Block] = [table, Section("", [Paragraph(HOW, small=True)], Depth.MAIN)]
    return Section("Datagrams", blocks if cells else [], key="datagrams")
