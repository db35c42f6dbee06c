"""Contestants as declared and as found: a table, and a paragraph for each contestant."""

from collections.abc import Sequence
from dataclasses import dataclass

from jostle.explain.documents.declared import Declared, Judgement, judged
from jostle.explain.finding import Topic
from jostle.explain.results import Explanation
from jostle.formatting import plural
from jostle.report.document import Block, Document, Link, Mark, Paragraph, Section, Table, columns

__all__ = ["ExplainedContestant", "roster_document"]

MARKS: dict[Judgement, Mark] = {
    "agrees": Mark("✓", "agrees", "good"),
    "agrees in part": Mark("✓", "agrees in part", "good"),
    "differs": Mark("✗", "differs", "bad"),
    "undecided": Mark("?", "undecided"),
    "no work": Mark("-", "no route computes"),
}
NOT_ASKED = Mark("-", "not asked")


@dataclass(frozen=True)
class ExplainedContestant:
    """A contestant. `explanation`: None if there is none, in which case `why` gives the reason. `page`: link
    to the contestant's own page, relative to the table; "" if there is none.
    """

    label: str
    declared: Declared
    explanation: Explanation | None = None
    why: str = ""
    page: str = ""


def roster_document(entries: Sequence[ExplainedContestant], when: str, machine: str) -> Document:
    """The table and the paragraphs as a document. `when`, `machine`: when and where the explanations were
    made, in words.
    """
    explanations = [entry.explanation for entry in entries if entry.explanation is not None]
    judgements = [judged(entry.declared, entry.explanation) for entry in entries if entry.explanation]
    counts = [f"{judgements.count(one)} {word}" for one, word in COUNTED.items() if one in judgements]
    missing = len(entries) - len(explanations)
    summary = (
        f"{plural(len(explanations), 'contestant')}: {', '.join(counts)}."
        if explanations
        else "None was asked."
    )
    if missing:
        summary += f" {plural(missing, 'contestant')} not asked; the table says why."
    return Document(
        title="Contestants: as declared, and as found",
        mark=None,
        meaning="",
        facts=[fact for fact in (when, machine) if fact],
        reasons=[],
        cut_short="",
        sections=[
            Section("", [Paragraph(summary), Paragraph(READING), _table(entries)], key="table"),
            Section("Each one in a paragraph", list(_paragraphs(entries)), key="paragraphs"),
        ],
    )


COUNTED: dict[Judgement, str] = {
    "agrees": "found as declared",
    "agrees in part": "as declared as far as was found",
    "differs": "found otherwise",
    "undecided": "not to be told",
    "no work": "without a route that computes",
}

READING = (
    "Declared is what the author of the contestant wrote. Found is what jostle explain concluded from "
    "outside, knowing only the routes. Where the two differ, either may be wrong."
)


def _table(entries: Sequence[ExplainedContestant]) -> Table:
    heads = columns("contestant = | declared = | verdict | found = | waiting = | asked")
    table = Table("Declared and found", heads, prose=True)
    for entry in entries:
        one = entry.explanation
        if one is None:
            table.add(entry.label, entry.declared.says, NOT_ASKED, entry.why, "", "")
            continue
        mark = MARKS[judged(entry.declared, one)]
        table.add(entry.label, entry.declared.says, mark, _found(one), _says(one, Topic.SLOTS), one.day)
    return table


def _found(explanation: Explanation) -> str:
    """The discipline; if it could not be told, also how many requests progress at once, and the evidence line
    about the nearest candidate.
    """
    finding = explanation.finding(Topic.DISCIPLINE)
    if finding is None or finding.decided:
        return finding.says if finding else "No request was answered."
    nearest = next((line for line in finding.evidence if line.startswith("Nearest")), "")
    parallel = explanation.finding(Topic.PARALLELISM)
    at_once = parallel.says if parallel is not None and parallel.decided else ""
    return " ".join(filter(None, (finding.says, at_once, nearest)))


def _says(explanation: Explanation, topic: Topic) -> str:
    finding = explanation.finding(topic)
    return finding.says if finding is not None and finding.decided else ""


def _paragraphs(entries: Sequence[ExplainedContestant]) -> list[Block]:
    blocks: list[Block] = []
    for entry in entries:
        if entry.explanation is not None:
            blocks.append(Paragraph(entry.explanation.paragraph, label=entry.label))
            if entry.page:
                blocks.append(Link("findings and pictures", entry.page))
    return blocks
