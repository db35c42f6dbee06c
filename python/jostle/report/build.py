"""The document of a run, and that of a comparison: which sections there are, and in which order."""

from jostle.analysis.results import CompareResult, RunResult
from jostle.report.document import Block, Document, Finding, Findings, Paragraph, Section
from jostle.report.sections import (
    answer,
    costs,
    differences,
    distributions,
    goodput,
    phased,
    provenance,
    published,
    requirements,
    timelines,
    trials,
    validity,
)
from jostle.report.sections.marks import decision_mark, verdict_mark

__all__ = ["comparison_document", "run_document"]


def run_document(result: RunResult) -> Document:
    """Everything that a report of a run can show. This order is the only one."""
    return Document(
        title=result.title,
        mark=verdict_mark(result.verdict),
        meaning=result.verdict.meaning,
        facts=provenance.facts(result),
        reasons=validity.reasons(result),
        cut_short=validity.incomplete(result),
        sections=[
            answer.section(result),
            phased.section(result),
            goodput.section(result),
            costs.section(result),
            published.section(result),
            requirements.section(result),
            trials.not_measured(result),
            timelines.section(result),
            differences.section(result),
            distributions.section(result),
            validity.section(result),
            trials.section(result),
            provenance.machine(result),
            provenance.again(result),
        ],
        affects=validity.affects(result),
        finish="" if result.complete else f"jostle run --resume {result.folder}",
    )


def comparison_document(result: CompareResult) -> Document:
    """Conditions first, then every workload that both sides have."""
    conditions = [
        Finding(f"{c.condition}, {c.workload}", decision_mark(c.verdict), (c.message,))
        for c in result.conditions
    ]
    notes: list[Block] = [Paragraph(note, "warning") for note in result.notes]
    return Document(
        title=result.title,
        mark=None,
        meaning="",
        facts=[f"a: {result.a}", f"b: {result.b}"],
        reasons=[],
        cut_short="",
        sections=[
            Section("", [Findings(conditions)], key="conditions"),
            *(differences.comparison(c) for c in result.comparisons),
            Section("", notes, key="notes"),
        ],
    )
