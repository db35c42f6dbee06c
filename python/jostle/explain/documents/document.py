"""An explanation as a document: the paragraph, the findings with their evidence, and pictures of what was
seen.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlsplit

from jostle.explain.answer import besides, faults
from jostle.explain.finding import Finding
from jostle.explain.results import Explanation, SentBurst
from jostle.formatting import amount, plural
from jostle.host.pressure import BUSY
from jostle.report.charts import Pair, SentRequest, interference, pauses, phases, staircase
from jostle.report.document import (
    Block,
    Depth,
    Document,
    Figure,
    Mark,
    Paragraph,
    Preformatted,
    Section,
    Statement,
    Statements,
    Table,
    Tone,
    columns,
)

__all__ = ["explanation_document"]

MIXED = 1.5
"""A burst counts as one of several sizes if its demands differ by at least this factor."""


def explanation_document(explanation: Explanation) -> Document:
    """Everything there is to show, in reading order."""
    return Document(
        title=_title(explanation),
        mark=None,
        meaning="",
        facts=_facts(explanation),
        reasons=[],
        cut_short="",
        sections=[
            Section("", list(_answer(explanation)), key="answer"),
            Section("Pictures", list(_pictures(explanation)), Depth.MAIN, key="pictures"),
            Section("Findings, and what says so", [_findings(explanation)], Depth.MAIN, key="cards"),
            Section("What was asked", list(_asked(explanation)), Depth.MAIN, key="asked"),
        ],
        data=explanation.as_json,
    )


INTERVALS = "In parentheses: 95 % confidence intervals."


def _answer(explanation: Explanation) -> Iterator[Block]:
    """Each fault with what to do about it; then the rest."""
    for fault in faults(explanation.findings):
        yield Paragraph(fault.says, "warning")
        if fault.cure:
            yield Paragraph(f"→ {fault.cure}")
    if rest := besides(explanation.findings):
        yield Paragraph(" ".join(rest))
    for text in (INTERVALS, explanation.absent, explanation.unknown):
        if text:
            yield Paragraph(text, small=True)
    if explanation.command:
        yield Paragraph("More could be told with:", small=True)
        yield Preformatted.of("the command", explanation.command)


def _title(explanation: Explanation) -> str:
    address = urlsplit(explanation.url).netloc or explanation.url
    return f"How {explanation.target if explanation.target != explanation.url else address} behaves"


def _facts(explanation: Explanation) -> list[str]:
    when = datetime.fromtimestamp(explanation.started_unix_ns / 1e9, UTC)
    about = [
        f"the server says it is {explanation.server}" if explanation.server else "",
        f"it may use {plural(explanation.cores, 'core')}" if explanation.cores else "",
        f"this machine was busy: some thread was waiting for a core "
        f"{amount(explanation.pressure, 'share')} of the time"
        if explanation.pressure and explanation.pressure > BUSY
        else "",
    ]
    sent = (
        f"{plural(explanation.requests, 'request')} in {explanation.seconds:.0f} s over at most "
        f"{plural(explanation.connections, 'connection')} at once"
    )
    if explanation.protocol:
        sent += f", over {explanation.protocol}"
    return [f"{when:%Y-%m-%d %H:%M} UTC, {sent}", "; ".join(filter(None, about))]


FAULT: tuple[str, Tone] = ("!", "warning")
FACT: tuple[str, Tone] = ("·", "plain")
OPEN: tuple[str, Tone] = ("?", "plain")


def _findings(explanation: Explanation) -> Statements:
    """A card for each finding: what hurts first, what cannot be told last."""
    ordered = sorted(explanation.findings, key=lambda one: (not one.decided, -one.hurts_s))
    return Statements([_card(finding) for finding in ordered])


def _card(finding: Finding) -> Statement:
    symbol, tone = FAULT if finding.hurts_s else FACT if finding.decided else OPEN
    option = f" ({finding.option})" if finding.option else ""
    details = [f"What would help: {finding.would_tell}{option}."] if finding.would_tell else []
    says = f"{finding.says} {finding.cure}".rstrip()
    return Statement(says, Mark(symbol, finding.topic, tone), (*details, *finding.evidence))


def _pictures(explanation: Explanation) -> Iterator[Block]:
    for key, what, burst in _chosen(explanation.bursts):
        sent = [SentRequest(job.route, job.demand_s, job.at_s, job.end_s) for job in burst.jobs]
        yield Figure(f"burst-{key}", partial(staircase, sent, what))
    alone = {cell.route: cell.median_s for cell in explanation.interference if not cell.beside}
    pairs = [
        Pair(cell.route, cell.beside, cell.clients, cell.n, alone.get(cell.route), cell.median_s)
        for cell in explanation.interference
        if cell.beside
    ]
    yield Figure("interference", partial(interference, pairs))
    points = [(point.at_s, point.response_s) for point in explanation.stream]
    yield Figure("pauses", partial(pauses, points))
    periods = [finding.figure("every") for finding in explanation.findings]
    for number, every in enumerate(filter(None, periods), 1):
        if every.value:
            yield Figure(f"phases-{number}", partial(phases, points, every.value))


def _chosen(bursts: Sequence[SentBurst]) -> Iterator[tuple[str, str, SentBurst]]:
    """The largest burst of equal requests for each route, and of each other kind: its key, its caption, and
    the burst.
    """
    kinds: dict[tuple[str, str], list[SentBurst]] = {}
    for burst in bursts:
        kind = _kind(burst)
        kinds.setdefault((kind, burst.jobs[0].route if kind == "equal" else ""), []).append(burst)
    words = {
        "equal": "A burst of {} requests for {}",
        "behind-plugs": "A burst of {} requests of several sizes, the first of them to fill the server",
        "sizes": "A burst of {} requests of several sizes",
    }
    for number, ((kind, route), those) in enumerate(sorted(kinds.items()), 1):
        largest = max(those, key=lambda burst: len(burst.jobs))
        key = f"{kind}-{number}" if kind == "equal" else kind
        yield key, words[kind].format(len(largest.jobs), route), largest


def _kind(burst: SentBurst) -> str:
    demands = [job.demand_s for job in burst.jobs]
    if max(demands) < MIXED * min(demands):
        return "equal"
    first = [job for job in burst.jobs if job.at_s < demands[0] / 100]
    return "behind-plugs" if first and all(job.demand_s == max(demands) for job in first) else "sizes"


def _asked(explanation: Explanation) -> Iterator[Block]:
    if explanation.limits:
        yield Paragraph(f"The limits were {explanation.limits}.")
    yield _routes(explanation)


def _routes(explanation: Explanation) -> Table:
    table = Table("Routes that were asked for", columns("route = | kind =", "by itself ="))
    for route in explanation.routes:
        table.add(route.path, route.role, amount(route.service_s, "s"))
    return table
