"""What the plan requires, and whether it holds."""

from jostle.analysis.results import RunResult
from jostle.report.document import Block, Depth, Paragraph, Section, Statement, Statements
from jostle.report.sections.verdict_marks import decision_mark

__all__ = ["section"]

ORDER = ("fail", "undecided", "pass")
HOW = "A requirement is decided only if the whole interval lies on one side of its limit."


def section(result: RunResult) -> Section:
    """All requirements, those that fail first; empty if the plan has none."""
    items = [
        Statement(
            f"{r.that}: {r.contestant or 'all contestants'}, {r.workload or 'all workloads'}",
            decision_mark(r.verdict),
            (f"{r.message} ({r.confidence * 100:g} % confidence)",),
        )
        for r in sorted(result.requirements, key=lambda r: ORDER.index(r.verdict))
    ]
    blocks: list[Block] = [Statements(items), Section("", [Paragraph(HOW, small=True)], Depth.DETAIL)]
    return Section("Requirements", blocks if items else [], key="requirements")
