"""What the plan requires, and whether it holds."""

from jostle.analysis.results import RequirementResult, RunResult
from jostle.report.document import Block, Depth, Paragraph, Section, Statement, Statements
from jostle.report.sections.verdict_marks import decision_mark

__all__ = ["section"]

ORDER = ("fail", "undecided", "pass")
HOW = "A requirement is decided only if the whole interval lies on one side of its limit."
OVERALL = (
    "“Not slower” is one test of the mean, the quantiles, the errors and the CPU per request, and of the "
    "throughput where the plan does not give it: of equal servers, it fails in 2.5 % of runs."
)


def section(result: RunResult) -> Section:
    """All requirements, those that fail first; empty if the plan has none."""
    items = [
        Statement(
            f"{r.that}: {_about(r)}",
            decision_mark(r.verdict),
            (f"{r.message} ({r.confidence * 100:g} % confidence)",),
        )
        for r in sorted(result.requirements, key=lambda r: ORDER.index(r.verdict))
    ]
    how = f"{HOW} {OVERALL}" if any(r.against for r in result.requirements) else HOW
    blocks: list[Block] = [Statements(items), Section("", [Paragraph(how, small=True)], Depth.DETAIL)]
    return Section("Requirements", blocks if items else [], key="requirements")


def _about(r: RequirementResult) -> str:
    against = f" against {r.against}" if r.against else ""
    part = f", {r.part}" if r.part else ""
    return f"{r.contestant or 'all contestants'}{against}, {r.workload or 'all workloads'}{part}"
