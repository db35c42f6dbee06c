"""What a plan sets beside one another: ratios of workloads, the cost of threads and of garbage collection,
earlier runs of a load.
"""

from collections.abc import Sequence
from functools import partial

from jostle.analysis.results import Ratio, RunResult, Threads
from jostle.formatting import amount, formatted, percent
from jostle.report import charts
from jostle.report.document import Block, Column, Depth, Figure, Section, Table, columns
from jostle.report.views import contestants, find_summary
from jostle.report.workload import as_written, quantiles

__all__ = ["earlier", "garbage", "ratio_groups", "ratios", "section", "thread_groups", "threads"]


def section(result: RunResult) -> Section:
    """Nothing where the plan asks for none of them."""
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


def ratio_groups(result: RunResult) -> list[list[Ratio]]:
    """The ratios of each title, contestants in the order of the plan."""
    titles = dict.fromkeys(r.title for r in result.ratios)
    return [[r for r in result.ratios if r.title == title] for title in titles]


def ratios(group: Sequence[Ratio]) -> Table:
    """A row per contestant: the quantity under both workloads, their ratio, and the ratio as published."""
    first = group[0]
    names = [
        Column("contestant", "word", "contestant"),
        *(Column(name, "figure", name) for name in (first.against, first.workload, "ratio")),
        Column("as published", "figure", "published"),
    ]
    table = Table(f"{first.title} ({first.quantity})", names)
    for r in group:
        sides = (formatted(e) for e in (r.against_value, r.value))
        table.add(r.contestant, *sides, formatted(r.ratio, "ratio"), published_ratio(r))
    return table


def published_ratio(r: Ratio) -> str:
    """As the article's figures have it, or nothing."""
    if r.published is None or not r.published_against:
        return ""
    ratio = r.published / r.published_against
    return f"{ratio:.3f} ({as_written(r.published)} / {as_written(r.published_against)})"


def thread_groups(result: RunResult) -> list[list[Threads]]:
    """The threads of each workload, the most threads first; contestants in the order of the plan."""
    most = sorted(result.threads, key=lambda t: -t.count)
    workloads = dict.fromkeys(t.workload for t in most)
    return [[t for t in result.threads if t.workload == w] for w in workloads]


def threads(result: RunResult, group: Sequence[Threads]) -> Table:
    """A row per contestant: memory and time of each thread, and the server's memory before and at most."""
    summary = find_summary(result, group[0].contestant, group[0].workload)
    title = summary.title if summary else group[0].workload
    names = columns(
        "contestant =",
        "memory each = | as published = published | address space each = | time each = | before ="
        " | at most =",
    )
    table = Table(f"{title}: what each of {group[0].count:,} costs", names)
    for t in group:
        told = amount(t.published_bytes, "bytes") if t.published_bytes is not None else ""
        memory = (formatted(e) for e in (t.before_bytes, t.peak_bytes))
        reserved, time = formatted(t.virtual_bytes), formatted(t.time_s, fine=True)
        table.add(t.contestant, formatted(t.memory_bytes), told, reserved, time, *memory)
    return table


def garbage(result: RunResult) -> Table:
    """A row for each cell whose server tells of it: share of the load's time, and how often."""
    names = columns("workload = | contestant =", "of the time = | collections for 1,000 answers =")
    table = Table("Time in garbage collection", names)
    for g in result.garbage:
        table.add(g.workload, g.contestant, formatted(g.share), formatted(g.collections_per_1000))
    return table


def earlier(result: RunResult) -> Table:
    """Each run of the load before the measured one on the same server, and the measured one below it."""
    names = columns(
        "workload = | contestant = | run =",
        "throughput = per s | p50 = | p90 | p99 = | p99.9 | longest | failed =",
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
