"""An explanation as a document: the paragraph, the findings with their evidence, and pictures of what was
seen.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from urllib.parse import urlsplit

from jostle.explain.results import Explanation, SentBurst
from jostle.formatting import amount, plural
from jostle.host.pressure import BUSY
from jostle.report.charts import Pair, Sent, interference, pauses, staircase
from jostle.report.document import Block, Depth, Document, Figure, Paragraph, Section, Table, columns

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
            Section("", [Paragraph(explanation.paragraph)], key="paragraph"),
            Section("Findings", [_findings(explanation)], key="findings"),
            Section("Pictures", list(_pictures(explanation)), Depth.MAIN, key="pictures"),
            Section("What was asked", [_routes(explanation)], Depth.MAIN, key="asked"),
        ],
        data=explanation.as_json,
    )


def _title(explanation: Explanation) -> str:
    address = urlsplit(explanation.url).netloc or explanation.url
    return f"How {explanation.target if explanation.target != explanation.url else address} behaves"


def _facts(explanation: Explanation) -> list[str]:
    when = datetime.fromtimestamp(explanation.started_unix_ns / 1e9, UTC)
    asked = (
        f"sent {plural(explanation.requests, 'request')} in {explanation.seconds:.0f} s over at most "
        f"{plural(explanation.connections, 'connection')} at once, over {explanation.protocol}"
    )
    return [
        asked,
        f"limits ({explanation.limits})",
        f"the server says it is {explanation.server}" if explanation.server else "",
        f"it may use {plural(explanation.cores, 'core')}" if explanation.cores else "",
        f"this machine was busy: some thread was waiting for a core "
        f"{amount(explanation.pressure, 'share')} of the time"
        if explanation.pressure and explanation.pressure > BUSY
        else "",
        f"{when:%Y-%m-%d %H:%M} UTC",
    ]


def _findings(explanation: Explanation) -> Table:
    table = Table("Findings, and what says so", columns("finding = | what was found ="), prose=True)
    for finding in explanation.findings:
        table.add(finding.topic, finding.says)
        if finding.would_tell:
            table.add(finding.topic, f"What would help: {finding.would_tell}.")
        for line in finding.evidence:
            table.add(finding.topic, f"· {line}")
    return table


def _pictures(explanation: Explanation) -> Iterator[Block]:
    for key, what, burst in _chosen(explanation.bursts):
        sent = [Sent(job.route, job.demand_s, job.at_s, job.end_s) for job in burst.jobs]
        yield Figure(f"burst-{key}", partial(staircase, sent, what))
    alone = {cell.route: cell.median_s for cell in explanation.interference if not cell.beside}
    pairs = [
        Pair(cell.route, cell.beside, cell.clients, cell.n, alone.get(cell.route), cell.median_s)
        for cell in explanation.interference
        if cell.beside
    ]
    yield Figure("interference", partial(interference, pairs))
    yield Figure("pauses", partial(pauses, [(point.at_s, point.response_s) for point in explanation.stream]))


def _chosen(bursts: Sequence[SentBurst]) -> Iterator[tuple[str, str, SentBurst]]:
    """The largest burst of each kind: its key, its caption, and the burst."""
    kinds: dict[str, list[SentBurst]] = {"equal": [], "behind-plugs": [], "sizes": [], "waiting": []}
    for burst in bursts:
        kinds[_kind(burst)].append(burst)
    words = {
        "equal": "A burst of {} equal requests",
        "behind-plugs": "A burst of {} requests of several sizes, the first of them to fill the server",
        "sizes": "A burst of {} requests of several sizes",
        "waiting": "A burst of {} requests that wait",
    }
    for kind, those in kinds.items():
        if those:
            largest = max(those, key=lambda burst: len(burst.jobs))
            yield kind, words[kind].format(len(largest.jobs)), largest


def _kind(burst: SentBurst) -> str:
    demands = [job.demand_s for job in burst.jobs]
    if burst.probe == "waiting":
        return "waiting"
    if max(demands) < MIXED * min(demands):
        return "equal"
    first = [job for job in burst.jobs if job.at_s < demands[0] / 100]
    return "behind-plugs" if first and all(job.demand_s == max(demands) for job in first) else "sizes"


def _routes(explanation: Explanation) -> Table:
    table = Table("Routes that were asked for", columns("route = | kind =", "by itself ="))
    for route in explanation.routes:
        table.add(route.path, route.role, amount(route.service_s, "s"))
    return table
