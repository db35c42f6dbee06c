"""Loads with phases: which contestants could hold all clients, and how each phase went."""

from collections.abc import Sequence
from functools import partial

from jostle.analysis.results import PhasedLoad, RunResult, Times
from jostle.formatting import MISSING, amount, listed, percent
from jostle.report import charts
from jostle.report.document import (
    Block,
    Depth,
    Figure,
    Mark,
    Paragraph,
    Section,
    Statement,
    Statements,
    Table,
    Value,
    columns,
)
from jostle.report.views import contestants
from jostle.units import format_count

__all__ = ["held", "most_open", "over_time", "phases", "ramp", "section", "sentence", "traffic"]

HOW_HELD = (
    "The target is reached if 99 % of the clients asked for were connected at once in every round; a few are "
    "always between two connections. Held: the mean number of open connections for each client asked for, "
    "while the load is at full size."
)
HOW_PHASES = (
    "Connections are counted where the clients have them open; the kernel opens them before the server "
    "accepts them. Times are those of connects that succeeded and requests that were answered. Network: "
    "bytes of requests and responses, without what TCP and IP add."
)


FEW = 3
"""Of more loads on contestants than these, a terminal shows the phases only in the full report."""


def section(result: RunResult) -> Section:
    """Empty if no load has phases."""
    workloads = dict.fromkeys(c.workload for c in result.phased_loads)
    groups = [[c for c in result.phased_loads if c.workload == workload] for workload in workloads]
    closed = [group for group in groups if group[0].asked is not None]
    few = len(result.phased_loads) <= FEW
    blocks: list[Block] = [
        Statements([Statement(sentence(group)) for group in closed]),
        *([held(result)] if closed else []),
        over_time(result) if few else Section("", [over_time(result)], Depth.MAIN),
        Section("", [Paragraph(HOW_HELD, small=True)], Depth.DETAIL),
        *(
            Figure(
                f"phased-{n}",
                partial(charts.phased, group, sentence(group), contestants(result), result.published),
            )
            for n, group in enumerate(groups, 1)
        ),
        Section("All figures of each phase", [phases(result), traffic(result)], Depth.MAIN),
        Section("The ramp-up, step by step", [ramp(result)], Depth.MAIN, folded=True),
        Section("", [Paragraph(HOW_PHASES, small=True)], Depth.DETAIL),
    ]
    return Section("Phases", blocks if groups else [], key="phases")


def held(result: RunResult) -> Table:
    """A row per contestant of each closed load with phases, including those that were not measured."""
    names = columns(
        "contestant = | workload | reached the target = reached | first refusal",
        "asked | most open at once = most open | held = held | time to headers, mean = headers | p99 = p99",
    )
    table = Table("Who reached the target, and who did not", names)
    closed = [crowd for crowd in result.phased_loads if crowd.asked is not None]
    for c in closed:
        reached = Mark("✓", "yes", "good") if c.reached else Mark("✗", "no", "bad")
        full = max(c.phases, key=lambda s: s.open_mean).headers
        figures = (amount(c.asked, "count"), most_open(c), percent(c.held.value))
        times = (amount(full.mean_s, "s"), amount(full.p99_s, "s"))
        table.add(c.contestant, c.workload, reached, c.refused or "none", *figures, *times)
    for name, why in result.skipped.items() if closed else ():
        table.add(name, MISSING, "not measured", why, *(MISSING,) * 5)
    for name, reasons in result.skipped_workloads.items():
        for workload in dict.fromkeys(c.workload for c in closed if c.workload in reasons):
            table.add(name, workload, "not measured", reasons[workload], *(MISSING,) * 5)
    return table


def over_time(result: RunResult) -> Table:
    """A row per phase of each load: how many connections there were, what was answered, and how soon."""
    words = "contestant = | workload = | phase =" if _several(result) else "contestant = | phase ="
    figures = "open at most = open | requests = per s | failed = | headers: p50 = p50 | p99 = p99"
    table = Table("Phase by phase", columns(words, figures))
    for c in result.phased_loads:
        for s in c.phases:
            rates = (amount(s.open_most, "count"), amount(s.throughput_per_s, "/s"), percent(s.error_share))
            times = (amount(s.headers.p50_s, "s"), amount(s.headers.p99_s, "s"))
            table.add(*_whose(c, result), s.name, *rates, *times)
    return table


def phases(result: RunResult) -> Table:
    """A row per contestant and phase, and one for the whole load: connections, rates, times by part."""
    names = (
        "open at most | requests | failed | connect: mean | p99"
        " | headers: mean | p50 | p99 | body: mean | p99"
    )
    table = _table("Phase by phase, over all rounds", names, result)
    for c in result.phased_loads:
        for s in c.phases:
            rates = (amount(s.open_most, "count"), amount(s.throughput_per_s, "/s"), percent(s.error_share))
            headers = (amount(v, "s") for v in (s.headers.mean_s, s.headers.p50_s, s.headers.p99_s))
            table.add(*_whose(c, result), s.name, *rates, *_two(s.connect), *headers, *_two(s.body))
    return table


def ramp(result: RunResult) -> Table:
    """A row per contestant and step of the ramp-up; each mean also as a multiple of the previous one."""
    words = "contestant | workload | until" if _several(result) else "contestant | until"
    names = (
        "open at most | requests | headers: mean | times the step before | deviation | p95 | server's cores"
    )
    table = Table("The ramp-up, step by step, of the trial of median throughput", columns(words, names))
    for c in result.phased_loads:
        before = None
        for step in c.ramp:
            mean = step.headers_mean_s
            grown = f"{mean / before:.2f}" if mean and before else MISSING
            times = (amount(step.headers_deviation_s, "s"), amount(step.headers_p95_s, "s"))
            rates = (amount(step.open, "count"), amount(step.throughput_per_s, "/s"))
            where = (*_whose(c, result), f"{step.end_s:.3g} s", *rates)
            table.add(*where, amount(mean, "s"), grown, *times, amount(step.server_cpu, ""))
            before = mean
    return table


def traffic(result: RunResult) -> Table:
    """A row per contestant and phase: bytes in and out of the server, cores in use on both sides."""
    names = "length | to the server | from it | server's cores | generator's"
    table = _table("Network, and cores in use", names, result)
    for c in result.phased_loads:
        for s in c.phases:
            network = (amount(v, "bytes") + "/s" for v in (s.to_server_per_s, s.from_server_per_s))
            cores = (amount(v, "") for v in (s.server_cpu, s.generator_cpu))
            table.add(*_whose(c, result), s.name, amount(s.length_s, "s"), *network, *cores)
    return table


def _table(caption: str, names: str, result: RunResult) -> Table:
    whose = "contestant | workload | phase" if _several(result) else "contestant | phase"
    return Table(caption, columns(whose, names))


def _whose(crowd: PhasedLoad, result: RunResult) -> list[Value]:
    return [crowd.contestant, crowd.workload] if _several(result) else [crowd.contestant]


def _several(result: RunResult) -> bool:
    return len({crowd.workload for crowd in result.phased_loads}) > 1


def _two(times: Times) -> tuple[str, str]:
    return amount(times.mean_s, "s"), amount(times.p99_s, "s")


def most_open(crowd: PhasedLoad) -> str:
    """The most connections open at once, averaged over the rounds."""
    value = crowd.open_most.value
    return MISSING if value is None else format_count(round(value))


def sentence(crowds: Sequence[PhasedLoad]) -> str:
    """Which contestants hold how many clients, in words."""
    closed = [c for c in crowds if c.asked is not None]
    if not closed:
        return f"{listed([c.contestant for c in crowds])} over time."
    planned = amount(closed[0].asked, "count")
    holding = [c.contestant for c in closed if c.reached]
    others = [c for c in closed if not c.reached]
    parts = [f"{listed(holding)} hold{'s' if len(holding) == 1 else ''} {planned} clients"] if holding else []
    parts += [f"{c.contestant} has {most_open(c)} of {planned} at most" for c in others]
    return f"{'; '.join(parts)}."
