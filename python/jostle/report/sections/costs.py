"""Tables of what a plan sets beside one another: ratios of workloads, the cost of threads, earlier runs."""

from collections.abc import Sequence

from jostle.analysis.results import Ratio, RunResult, Threads
from jostle.formatting import amount, formatted, percent
from jostle.report.tables import NOTHING, QUANTILES, Table, columns, estimate
from jostle.report.views import find_summary

__all__ = ["earlier", "ratio_tables", "ratios", "tables_of", "thread_tables", "threads"]


def tables_of(result: RunResult) -> list[Table]:
    """Those that stand among the results: of ratios, and of threads."""
    return [table for _, table in (*ratio_tables(result), *thread_tables(result))]


def ratio_tables(result: RunResult) -> list[tuple[list[Ratio], Table]]:
    """The ratios of each title, lowest first, and their table."""
    titles = dict.fromkeys(r.title for r in result.ratios)
    groups = [[r for r in result.ratios if r.title == title] for title in titles]
    ordered = [sorted(group, key=lambda r: r.ratio.value or 0.0) for group in groups]
    return [(group, ratios(group)) for group in ordered]


def ratios(group: Sequence[Ratio]) -> Table:
    """A row per contestant: the quantity under both workloads, their ratio, and the ratio as published."""
    first = group[0]
    names = ["contestant", first.against, first.workload, "ratio", "as published"]
    table = Table(f"{first.title} ({first.quantity})", names)
    for r in group:
        sides = (formatted(e) for e in (r.against_value, r.value))
        table.add(r.contestant, *sides, formatted(r.ratio, "ratio"), published_ratio(r))
    return table


def published_ratio(r: Ratio) -> str:
    """As the article's figures have it, or nothing."""
    if r.published is None or not r.published_against:
        return ""
    return f"{r.published / r.published_against:.3f} ({r.published:g} / {r.published_against:g})"


def thread_tables(result: RunResult) -> list[tuple[list[Threads], Table]]:
    """The threads of each workload, cheapest first, and their table; the most threads first."""
    most = sorted(result.threads, key=lambda t: -t.count)
    workloads = dict.fromkeys(t.workload for t in most)
    groups = [[t for t in result.threads if t.workload == w] for w in workloads]
    ordered = [sorted(group, key=lambda t: t.memory_bytes.value or 0.0) for group in groups]
    return [(group, threads(result, group)) for group in ordered]


def threads(result: RunResult, group: Sequence[Threads]) -> Table:
    """A row per contestant: memory and time of each thread, and the server's memory before and at most."""
    summary = find_summary(result, group[0].contestant, group[0].workload)
    caption = f"{summary.title if summary else group[0].workload}: what each of {group[0].count:,} costs"
    names = columns("contestant | memory each | as published | time each | before | at most")
    table = Table(caption, names)
    for t in group:
        told = amount(t.published_bytes, "bytes") if t.published_bytes is not None else ""
        memory = (formatted(e) for e in (t.before_bytes, t.peak_bytes))
        table.add(t.contestant, formatted(t.memory_bytes), told, formatted(t.time_s, fine=True), *memory)
    return table


def earlier(result: RunResult) -> Table:
    """Each run of the load before the measured one on the same server, and the measured one below it."""
    names = columns("workload | contestant | run | throughput | p50 | p90 | p99 | p99.9 | max | failed")
    table = Table("Runs on the same started server: the last one is measured", names, words=3)
    ordered = sorted(result.earlier, key=lambda e: (e.workload, e.contestant, e.run))
    for index, e in enumerate(ordered):
        times = [estimate(e.response, q) for q in QUANTILES]
        name = "first" if e.run == 1 else str(e.run)
        table.add(e.workload, e.contestant, name, formatted(e.throughput), *times, percent(e.error_share))
        last = index + 1 == len(ordered) or ordered[index + 1].run == 1
        summary = find_summary(result, e.contestant, e.workload) if last else None
        if summary is not None:
            times = [estimate(summary.response, q) if q in summary.response else NOTHING for q in QUANTILES]
            throughput, failed = formatted(summary.throughput), percent(summary.error_share)
            table.add(e.workload, e.contestant, "measured", throughput, *times, failed)
    return table
