"""Pings over WebSockets: how many were answered, and how long that took."""

from jostle.analysis.results import RunResult
from jostle.formatting import amount
from jostle.report.document import Block, Depth, Paragraph, Section, Table, columns
from jostle.report.workload import quantiles

__all__ = ["section"]

HOW = (
    "The round trip of a ping counts from the moment when it was due to its pong. A ping is unanswered if "
    "its pong did not come within the interval: the client then gave its socket up. Other pings without a "
    "pong were cut off by the end of their socket or of the load. The response times of messages do not "
    "contain pings."
)


def section(result: RunResult) -> Section:
    """Empty if no client sends pings."""
    names = columns(
        "workload = | contestant =",
        "pings = | answered = | unanswered = | p50 = | p90 = | p99 = | max =",
    )
    table = Table("Pings and their round trips", names)
    for found in result.pings:
        counts = (amount(n, "count") for n in (found.sent, found.answered, found.unanswered))
        times = quantiles(found.round_trip, ("p50", "p90", "p99", "max"))
        table.add(found.workload, found.contestant, *counts, *times)
    blocks: list[Block] = [table, Section("", [Paragraph(HOW, small=True)], Depth.MAIN)]
    return Section("Pings", blocks if result.pings else [], key="pings")
