"""The document of a run, and that of a comparison: which sections there are, and in what order."""

from collections.abc import Sequence
from functools import partial

from jostle.analysis.results import CompareResult, RunResult
from jostle.record import TrialRecord
from jostle.record.verdict import NOT_COMPLETE, Verdict
from jostle.report.cases import comparison_cases, run_cases
from jostle.report.document import Block, Depth, Document, Paragraph, Section, Statement, Statements
from jostle.report.figures import figures
from jostle.report.sections import (
    answer,
    behaviour,
    costs,
    datagrams,
    differences,
    distributions,
    goodput,
    head_of_line,
    heat_map,
    journeys,
    longest_stall,
    phased,
    pings,
    provenance,
    published,
    published_pictures,
    requests,
    requirements,
    streams,
    throughput,
    timelines,
    trials,
    validity,
    workloads,
)
from jostle.report.sections.verdict_marks import decision_mark, first_mark
from jostle.text import shortened

__all__ = ["comparison_document", "run_document"]


def run_document(
    result: RunResult, record: str | None = None, trials_on_disk: Sequence[TrialRecord] = ()
) -> Document:
    """Everything that a report of a run can show, in an order that all forms share.

    `record`: path of the run folder relative to the report, for links; None if there is none.
    `trials_on_disk`: those whose intervals the page takes in; none if the record is gone.
    """
    return Document(
        title=shortened(result.title),
        mark=first_mark(result),
        meaning=_meaning(result),
        facts=provenance.facts(result),
        reasons=validity.reasons(result),
        cut_short=validity.incomplete(result),
        sections=[
            answer.section(result),
            requests.section(result),
            workloads.section(result),
            requirements.section(result),
            heat_map.section(result, trials_on_disk),
            trials.not_measured(result),
            phased.section(result),
            journeys.section(result),
            streams.section(result),
            pings.section(result),
            head_of_line.section(result),
            datagrams.section(result),
            goodput.section(result),
            costs.section(result),
            longest_stall.section(result),
            behaviour.section(result),
            published.section(result),
            published_pictures.section(result),
            differences.section(result),
            Section("Details", _details(result, record), Depth.MAIN, key="details"),
        ],
        affects=validity.affects(result),
        in_full=f"jostle report --full {result.folder}" if result.folder else "",
        finish=result.finish,
        links=provenance.links(result, record),
        data=result.as_json,
        rows=partial(figures, result),
        cases=partial(run_cases, result),
    )


def _meaning(result: RunResult) -> str:
    """What the verdict means. A run of which a part is missing is suspect although no check failed."""
    if result.verdict is Verdict.SUSPECT and not result.complete and not validity.failed_checks(result):
        return NOT_COMPLETE
    return result.verdict.meaning


def _details(result: RunResult, record: str | None) -> list[Block]:
    """Sections that most readers do not need; they are folded on the page."""
    return [
        distributions.section(result),
        throughput.section(result),
        timelines.section(result),
        trials.section(result),
        validity.section(result),
        provenance.machine(result),
        provenance.again(result),
        provenance.files(result, record),
    ]


def comparison_document(result: CompareResult) -> Document:
    """The document of a comparison: conditions first, then every workload that both sides have."""
    several = len({(c.a, c.b) for c in result.conditions}) > 1
    conditions = [
        Statement(
            f"{c.condition}, {f'{c.b} against {c.a}, ' if several else ''}{c.workload}",
            decision_mark(c.verdict),
            (c.message,),
        )
        for c in result.conditions
    ]
    notes: list[Block] = [Paragraph(note, "warning") for note in result.notes]
    return Document(
        title=shortened(result.title),
        mark=None,
        meaning="",
        facts=[f"baseline: {result.a}"],
        reasons=[],
        cut_short="",
        sections=[
            Section("", [Statements(conditions)], key="conditions"),
            *(differences.comparison(c) for c in result.comparisons),
            Section("", notes, key="notes"),
        ],
        data=result.as_json,
        cases=partial(comparison_cases, result),
    )
