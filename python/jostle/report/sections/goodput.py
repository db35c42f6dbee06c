"""Tables of what impatient clients got: as the articles' load generators print it, and to be compared."""

from collections.abc import Mapping
from typing import Any

from jostle.analysis.results import Goodput, RunResult
from jostle.formatting import Formatted, amount, formatted
from jostle.report.tables import NOTHING, Table, columns, estimate
from jostle.report.views import find_summary

__all__ = ["chosen", "goodput", "hits"]


def hits(result: RunResult) -> Table:
    """Hits and timeouts of a trial, least and most hits in a second; means over rounds."""
    names = columns("workload | contestant | hits | timeouts | min. hits/s | max. hits/s")
    table = Table("As the articles' load generators print it: mean of the rounds", names, words=2)
    for g in result.goodputs:
        counts = (_plain(amount(whole(e.value), "count")) for e in (g.hits, g.timeouts))
        table.add(g.workload, g.contestant, *counts, formatted(g.least_per_s), formatted(g.most_per_s))
    return table


def goodput(result: RunResult) -> Table:
    """Goodput, evenness, times with what was given up in them, and who spent the CPU."""
    names = columns(
        "workload | contestant | database | timeout | goodput | dispersion | p50 | p99 | max | memory"
        " | server CPU per request | database CPU per request"
    )
    table = Table("As it can be compared: answers within the timeout, and what they cost", names, words=3)
    for g in result.goodputs:
        summary = find_summary(result, g.contestant, g.workload)
        times = [estimate(summary.response, q) if summary else NOTHING for q in ("p50", "p99", "max")]
        memory = amount(summary.server_rss_max_bytes, "bytes") if summary else ""
        server = formatted(summary.server_cpu_s_per_request, fine=True) if summary else NOTHING
        table.add(
            g.workload,
            g.contestant,
            chosen(g),
            amount(g.timeout_s, "s"),
            formatted(g.goodput),
            formatted(g.dispersion),
            *times,
            memory,
            server,
            formatted(g.database_cpu_s_per_request, fine=True),
        )
    return table


def chosen(g: Goodput) -> str:
    """What was chosen of the database: "no delay, pool 10, index"."""
    said = _said(g.database)
    return ", ".join(text for text in said if text)


def _said(database: Mapping[str, Any]) -> list[str]:
    delay, index, pool = (database.get(key) for key in ("delay_ms", "index", "pool"))
    return [
        "" if delay is None else f"delay {delay:g} ms" if delay else "no delay",
        "" if pool is None else f"pool {pool}",
        "" if index is None else "index" if index else "no index",
    ]


def whole(value: float | None) -> float | None:
    """A mean of counts, to the nearest."""
    return None if value is None else float(round(value))


def _plain(text: str) -> Formatted:
    return Formatted(text, "", "")
