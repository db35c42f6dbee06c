"""Comparisons that a plan asks for: ratios of workloads, the cost of threads and of garbage collection, and
earlier runs of a load.
"""

from collections.abc import Sequence
from functools import partial

from jostle.analysis.results import RatioResult, RunResult, Threads
from jostle.formatting import amount, formatted, percent, ratio
from jostle.report import charts
from jostle.report.document import Block, Column, Depth, Figure, Section, Table, columns
from jostle.report.views import contestants, find_summary
from jostle.report.workload import as_written, quantiles

__all__ = ["earlier", "garbage", "ratio_groups", "ratios", "section", "thread_groups", "threads"]


def section(result: RunResult) -> Section:
    """Empty if the plan asks for none of these."""
    blocks: list[Block] = []
    order = contestants(result)
    for number, group in enumerate(ratio_groups(result), 1):
        table = ratios(group)
        blocks.append(
            Section(
                table.caption, [table, Figure(f"ratio-{number}", partial(charts.ratios, group, table, order))]
            )
        )
    for number, costs in enumerate(thread_groups(result), 1):
        table = threads(result, costs)
        figure = Figure(f"threads-{number}", partial(charts.threads, costs, table, order))
        blocks.append(Section(table.caption, [table, figure]))
    if result.garbage:
        title = "Garbage collection, as the runtimes report it"
        blocks.append(Section(title, [garbage(result)], Depth.MAIN, folded=True))
    blocks.append(
        Section("Earlier runs on the same started server", [earlier(result)], Depth.MAIN, folded=True)
    )
    return Section("Costs", blocks, key="costs")


def ratio_groups(result: RunResult) -> list[list[RatioResult]]:
    """The ratios grouped by title, with contestants in the plan's order."""
    titles = dict.fromkeys(r.title for r in result.ratios)
    return [[r for r in result.ratios if r.title == title] for title in titles]


def ratios(group: Sequence[RatioResult]) -> Table:
    """A row per contestant: the metric under both workloads, their ratio, and the ratio as published."""
    first = group[0]
    names = [
        Column("contestant", "word", "contestant"),
        *(Column(name, "figure", name) for name in (first.against, first.workload, "ratio")),
        Column("as published", "figure", "published"),
    ]
    table = Table(f"{first.title} ({first.metric})", names)
    for r in group:
        sides = (formatted(e) for e in (r.against_value, r.value))
        table.add(r.contestant, *sides, ratio(r.ratio), published_ratio(r))
    return table


def published_ratio(r: RatioResult) -> str:
    """The ratio of the article's figures, in words; "" if it has none."""
    if r.published is None or not r.published_against:
        return ""
    ratio = r.published / r.published_against
    return f"{ratio:.3f} ({as_written(r.published)} / {as_written(r.published_against)})"


def thread_groups(result: RunResult) -> list[list[Threads]]:
    """The threads grouped by workload, most threads first, with contestants in the plan's order."""
    ranked = sorted(result.threads, key=lambda t: -t.count)
    workloads = dict.fromkeys(t.workload for t in ranked)
    return [[t for t in result.threads if t.workload == w] for w in workloads]


def threads(result: RunResult, group: Sequence[Threads]) -> Table:
    """A row per contestant: memory and time per thread, and the server's memory before and at its peak."""
    summary = find_summary(result, group[0].contestant, group[0].workload)
    title = summary.title if summary else group[0].workload
    names = columns(
        "contestant =",
        "memory each = | as published = published | address space each = | time each = | before ="
        " | at most =",
    )
    table = Table(f"{title}: what each of {group[0].count:,} costs", names)
    for t in group:
        published = amount(t.published_bytes, "bytes") if t.published_bytes is not None else ""
        memory = (formatted(e) for e in (t.before_bytes, t.peak_bytes))
        reserved, time = formatted(t.virtual_bytes), formatted(t.time_s, fine=True)
        table.add(t.contestant, formatted(t.memory_bytes), published, reserved, time, *memory)
    return table


def garbage(result: RunResult) -> Table:
    """A row per workload and contestant whose server reports it: share of the load's time, and how often."""
    names = columns("workload = | contestant =", "of the time = | collections for 1,000 responses =")
    table = Table("Time in garbage collection", names)
    for g in result.garbage:
        table.add(g.workload, g.contestant, formatted(g.share), formatted(g.collections_per_1000))
    return table


def earlier(result: RunResult) -> Table:
    """Every earlier run of the load on the same server, followed by the measured one."""
    names = columns(
        "workload = | contestant = | run =",
        "throughput = per s | mean | p50 = | p90 | p95 | p99 = | p99.9 | longest | failed =",
    )
    table = Table("Runs on the same started server: the last one is measured", names)
    ordered = sorted(result.earlier, key=lambda e: (e.workload, e.contestant, e.run))
    for index, e in enumerate(ordered):
        name = "first" if e.run == 1 else str(e.run)
        times = quantiles(e.response)
        table.add(e.workload, e.contestant, name, formatted(e.throughput), *times, percent(e.error_share))
        last = index + 1 == len(ordered) or ordered[index + 1].run == 1
        summary = find_summary(result, e.contestant, e.workload) if last else None
        if summary is not None:
            throughput, failed = formatted(summary.throughput), percent(summary.error_share)
            table.add(e.workload, e.contestant, "measured", throughput, *quantiles(summary.response), failed)
    return table
