"""What clients with a timeout got: as the articles' load generators print it, and in a comparable form."""

from collections.abc import Mapping
from typing import Any

from jostle.analysis.results import Goodput, RunResult
from jostle.formatting import amount, formatted
from jostle.report.document import NOTHING, Block, Depth, Paragraph, Section, Table, columns
from jostle.report.views import find_summary
from jostle.report.workload import quantiles

__all__ = ["chosen", "goodput", "hits", "section"]

HOW = (
    "Goodput counts requests that were answered within the timeout, from when they were due. Dispersion is "
    "the standard deviation of the throughput per second, divided by its mean. The lowest and the highest of "
    "many seconds lie far apart by chance alone, so compare the dispersion. Requests that were given up "
    "count in the times as longer than jostle waited. The database’s CPU is not part of the server’s; for "
    "your own database it is not known."
)


def section(result: RunResult) -> Section:
    """Empty if no request timed out and no server had a database."""
    blocks: list[Block] = [
        goodput(result),
        Section("", [hits(result), Paragraph(HOW, small=True)], Depth.MAIN),
    ]
    return Section("Goodput within the timeout", blocks if result.goodputs else [], key="goodput")


def hits(result: RunResult) -> Table:
    """Hits and timeouts of a trial, and the fewest and most hits in a second; means over rounds."""
    names = columns(
        "workload = | contestant =", "hits = | timeouts = | min. hits/s = min/s | max. hits/s = max/s"
    )
    table = Table("As the articles' load generators print it: mean of the rounds", names)
    for g in result.goodputs:
        counts = (amount(None if e.value is None else round(e.value), "count") for e in (g.hits, g.timeouts))
        table.add(g.workload, g.contestant, *counts, formatted(g.least_per_s), formatted(g.most_per_s))
    return table


def goodput(result: RunResult) -> Table:
    """Goodput, evenness, times that include requests given up, and CPU time of server and database."""
    names = columns(
        "workload = | contestant = | database",
        "timeout | goodput = per s | dispersion = sd/mean | p50 = | p99 = | longest | memory"
        " | server CPU per request | database CPU per request = db CPU",
    )
    table = Table("Responses within the timeout, and what they cost", names)
    for g in result.goodputs:
        summary = find_summary(result, g.contestant, g.workload)
        times = quantiles(summary.response, ("p50", "p99", "max")) if summary else [NOTHING] * 3
        server = formatted(summary.server_cpu_s_per_request, fine=True) if summary else NOTHING
        table.add(
            g.workload,
            g.contestant,
            chosen(g),
            amount(g.timeout_s, "s"),
            formatted(g.goodput),
            formatted(g.dispersion),
            *times,
            amount(summary.server_rss_max_bytes if summary else None, "bytes"),
            server,
            formatted(g.database_cpu_s_per_request, fine=True),
        )
    return table


def chosen(g: Goodput) -> str:
    """The database's settings in words: "no delay, pool 10, index"."""
    return ", ".join(filter(None, _settings(g.database)))


def _settings(database: Mapping[str, Any]) -> list[str]:
    delay, index, pool = (database.get(key) for key in ("delay_ms", "index", "pool"))
    return [
        "" if delay is None else f"delay {delay:g} ms" if delay else "no delay",
        "" if pool is None else f"pool {pool}",
        "" if index is None else "index" if index else "no index",
    ]
