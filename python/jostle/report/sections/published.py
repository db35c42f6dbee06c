"""What was published: claims and their verdicts, figures, and the set-up."""

from collections.abc import Sequence

from jostle.analysis.results import ARTICLE_VERDICTS, OWN_VERDICTS, ClaimResult, PublishedFigure, RunResult
from jostle.analysis.results.rule import written
from jostle.formatting import Formatted, amount, formatted, listed, plural
from jostle.plan.criteria.claims import SAME
from jostle.report.document import (
    Block,
    Depth,
    Paragraph,
    Section,
    Statement,
    Statements,
    Table,
    columns,
)
from jostle.report.sections.verdict_marks import NOT_MEASURED, claim_mark, decision_mark
from jostle.report.workload import as_published, published_per_s

__all__ = ["claims", "figures", "parts", "section", "setup", "tally"]

MAX_NAMED = 3
"""Up to this many failed claims are named in a tally; if there are more, it only gives their number."""

HOW = (
    "A part holds when its whole 95 % interval over rounds satisfies the rule, and fails when its whole "
    "interval violates it; otherwise it is undecided. A claim holds when all of its parts hold "
    "and fails when any fails (of several parts, by a wider interval); otherwise it is undecided. "
    "Ratios are paired by round."
)
HOW_PUBLISHED = (
    "If the article gives a number, the whole interval must also lie near it (published size): within a "
    f"factor of {SAME:g}, and for a ratio r between √r and r². A claim of the article that holds is "
    "reproduced."
)


def section(result: RunResult) -> Section:
    """Empty if nothing was published."""
    source = result.published[0].source if result.published else ""
    how = HOW if all(c.ours for c in result.claims) else f"{HOW} {HOW_PUBLISHED}"
    blocks: list[Block] = [
        *([Paragraph(f"{tally(result.claims)}.{_to_add(result)}")] if result.claims else []),
        Section("", [*([Paragraph(source, small=True)] if source else []), *_judged(result)], Depth.MAIN),
        Section(
            "The rules, fixed in the plan before the run",
            [parts(result), Paragraph(how, small=True)] if result.claims else [],
            Depth.MAIN,
            folded=True,
        ),
        Section("Published figures beside the measured ones", [figures(result)], Depth.MAIN, folded=True),
        Section("What differs from the published set-up", _setups(result), Depth.MAIN, folded=True),
    ]
    return Section("Claims", blocks, key="claims")


def _to_add(result: RunResult) -> str:
    """What else would have to be measured for the claims. Contestants that failed are left out, as the page
    gives the reason.
    """
    contestants, workloads = _needed(result)
    needed = [name for name in contestants if name not in result.skipped]
    sentences = f" To measure what was not, add to --contestants: {', '.join(needed)}." if needed else ""
    if workloads:
        subject = "Others" if needed else "Those not measured"
        sentences += f" {subject} are about workloads that were left out (--workloads)."
    return sentences


def _needed(result: RunResult) -> tuple[list[str], bool]:
    """Contestants that were not measured at all, and whether workloads of measured ones are missing, too."""
    absent = dict.fromkeys(name for claim in result.claims for name in claim.absent)
    measured = {summary.contestant for summary in result.summaries}
    return [name for name in absent if name not in measured], not measured.isdisjoint(absent)


def _judged(result: RunResult) -> list[Block]:
    """A finding for each claim that was measured, and one folded section for all others."""
    absent = [c for c in result.claims if c.absent]
    blocks: list[Block] = [claims([c for c in result.claims if not c.absent])]
    if absent:
        contestants, workloads = _needed(result)
        names = listed([*contestants, *(["workloads that were left out"] if workloads else [])])
        ours = sum(c.ours for c in absent)
        counts = [plural(len(absent) - ours, "claim"), plural(ours, "check") + " of our own"]
        count = " and ".join(text for text in counts if not text.startswith("0 "))
        title = (
            f"{count} not measured: {'it needs' if len(absent) == 1 else 'each needs one or more of'} {names}"
        )
        statements = Statements([Statement(c.statement) for c in absent])
        blocks.append(Section(title, [statements], Depth.DETAIL, folded=True))
    return blocks


def claims(found: Sequence[ClaimResult], *, href: str = "") -> Statements:
    """A finding per claim: what was published, and what was found here. Our own checks are marked as such."""
    return Statements(
        [
            Statement(
                f"Our check: {c.statement}" if c.ours else c.statement,
                claim_mark(c.verdict),
                (f"Published: {c.published.rstrip('.')}. Here: {c.sentence}" if c.published else c.sentence,),
                href,
            )
            for c in found
        ]
    )


def tally(found: Sequence[ClaimResult]) -> str:
    """The claims by verdict: "6 published claims: 2 reproduced, 4 undecided; 3 checks of our own: …"."""
    articles, ours = ([c for c in found if c.ours is whose] for whose in (False, True))
    parts = [
        f"{plural(len(articles), 'published claim')}: {_counts(articles, ARTICLE_VERDICTS)}"
        if articles
        else "",
        f"{plural(len(ours), 'check')} of our own: {_counts(ours, OWN_VERDICTS)}" if ours else "",
    ]
    return "; ".join(filter(None, parts))


def _counts(found: Sequence[ClaimResult], order: Sequence[str]) -> str:
    texts = []
    for verdict in order:
        of_it = [c.statement for c in found if c.verdict == verdict and not c.absent]
        if of_it:
            named = verdict in ("not reproduced", "does not hold") and len(of_it) <= MAX_NAMED
            names = f" ({'; '.join(of_it)})" if named else ""
            word = verdict if len(of_it) == 1 else _PLURAL.get(verdict, verdict)
            texts.append(f"{len(of_it)} {word}{names}")
    absent = sum(bool(c.absent) for c in found)
    return ", ".join([*texts, *([f"{absent} not measured"] if absent else [])])


_PLURAL = {"holds": "hold", "does not hold": "do not hold"}


def parts(result: RunResult) -> Table:
    """The rule of every claim, part by part, as the plan fixed it before the run."""
    parts_of = [(c, part) for c in result.claims for part in c.criteria]
    sized = any(part.published is not None for _, part in parts_of)
    names = columns(
        f"claim | what is measured | rule |{' published size |' if sized else ''} result",
        f"{'published |' if sized else ''} value and 95 % interval",
    )
    table = Table("The rules, fixed in the plan before the run", names)
    for c, part in parts_of:
        published = "" if part.published is None else written(part.published, part.estimate.unit)
        table.add(
            c.statement,
            part.subject,
            part.rule,
            *([part.size] if sized else []),
            NOT_MEASURED if part.absent else decision_mark(part.verdict),
            *([published] if sized else []),
            formatted(part.estimate),
        )
    return table


def figures(result: RunResult) -> Table:
    """Every published figure beside the same metric measured here, with notes if there are any."""
    source = result.published[0].source if result.published else ""
    noted = any(f.note for f in result.published)
    words = "workload = | contestant = | metric =" + (" | note" if noted else "")
    table = Table(
        f"Published figures ({source})",
        columns(words, "published = | measured here = measured"),
    )
    for f in result.published:
        measured = formatted(f.measured) if f.measured is not None else Formatted("not measured")
        about = (f.workload, f.beside or f.contestant, f.metric, *([f.note] if noted else []))
        table.add(*about, _with_rate(f), measured)
    return table


def _with_rate(figure: PublishedFigure) -> str:
    """The figure as its author wrote it, and per second if it is a rate over another time."""
    per_s = published_per_s(figure) if figure.unit.partition("/")[2] not in ("", "s") else None
    return as_published(figure) + (f" ({amount(per_s, '/s')})" if per_s is not None else "")


def _setups(result: RunResult) -> list[Block]:
    lines = [line.strip() for line in result.published_setup.splitlines() if line.strip()]
    article = [Paragraph(f"The article used: {'; '.join(lines)}.")] if lines and result.setup else []
    return [*article, setup(result)]


def setup(result: RunResult) -> Table:
    """The set-up of this run, one fact per row."""
    table = Table("What was used here", columns("fact = | here ="), prose=True)
    for fact, value in result.setup:
        table.add(fact, value)
    return table
