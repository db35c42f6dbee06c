"""Loads with phases as tables: who held the clients that came, and how each phase went."""

from collections.abc import Iterator
from typing import Any

from jostle.analysis.results import PhasedLoad, RunResult, Times
from jostle.formatting import MISSING, amount, percent
from jostle.report.tables import Table, columns
from jostle.units import format_count

__all__ = ["cores_in_use", "figures", "held", "most_open", "per_second", "phases", "sentence", "traffic"]


def held(result: RunResult) -> Table:
    """A row per contestant of each closed load with phases, and one for each that was not measured."""
    names = "contestant | workload | reached the target | first refusal | asked | most open at once | held"
    table = Table("Who reached the target, and who did not", columns(names), words=4)
    closed = [crowd for crowd in result.phased_loads if crowd.asked is not None]
    for c in closed:
        reached = "✓ yes" if c.reached else "✗ no"
        figures = (amount(c.asked, "count"), most_open(c), percent(c.held.value))
        table.add(c.contestant, c.workload, reached, c.refused or "none", *figures)
    for name, why in result.skipped.items() if closed else ():
        table.add(name, MISSING, "not measured", why, *(MISSING,) * 3)
    return table


def phases(result: RunResult) -> Table:
    """A row per contestant and phase, and one for the whole load: connections, rates, times of each part."""
    names = (
        "phase | open at most | requests | failed | connect: mean | p99 | headers: mean | p50 | p99"
        " | body: mean | p99"
    )
    table = _table("Phase by phase, over all rounds", names, result)
    for c in result.phased_loads:
        for s in c.phases:
            rates = (amount(s.open_most, "count"), amount(s.throughput_per_s, "/s"), percent(s.error_share))
            headers = (
                amount(s.headers.mean_s, "s"),
                amount(s.headers.p50_s, "s"),
                amount(s.headers.p99_s, "s"),
            )
            table.add(*_whose(c, result), s.name, *rates, *_two(s.connect), *headers, *_two(s.body))
    return table


def traffic(result: RunResult) -> Table:
    """A row per contestant and phase: bytes in and out of the server, cores in use on both sides."""
    names = "phase | length | to the server | from it | server's cores | generator's"
    table = _table("Network, and cores in use", names, result)
    for c in result.phased_loads:
        for s in c.phases:
            network = (per_second(s.to_server_per_s), per_second(s.from_server_per_s))
            cores = (cores_in_use(s.server_cpu), cores_in_use(s.generator_cpu))
            table.add(*_whose(c, result), s.name, amount(s.length_s, "s"), *network, *cores)
    return table


def _table(caption: str, names: str, result: RunResult) -> Table:
    whose = ["contestant", "workload"] if _several(result) else ["contestant"]
    return Table(caption, [*whose, *columns(names)], words=len(whose) + 1)


def _whose(crowd: PhasedLoad, result: RunResult) -> list[str]:
    return [crowd.contestant, crowd.workload] if _several(result) else [crowd.contestant]


def _several(result: RunResult) -> bool:
    return len({crowd.workload for crowd in result.phased_loads}) > 1


def _two(times: Times) -> tuple[str, str]:
    return amount(times.mean_s, "s"), amount(times.p99_s, "s")


def per_second(bytes_: float) -> str:
    """A rate of bytes."""
    return f"{amount(bytes_, 'bytes')}/s"


def cores_in_use(cores: float | None) -> str:
    """With two digits after the point; a dash where it was not watched."""
    return MISSING if cores is None else f"{cores:.2f}"


def most_open(crowd: PhasedLoad) -> str:
    """Connections open at once, the most of each round on average."""
    value = crowd.open_most.value
    return MISSING if value is None else format_count(round(value))


def sentence(phased_loads: list[PhasedLoad]) -> str:
    """Who holds how many, in words."""
    closed = [c for c in phased_loads if c.asked is not None]
    if not closed:
        return f"{_names(phased_loads)} over time"
    asked = amount(closed[0].asked, "count")
    holding = [c for c in closed if c.reached]
    others = [c for c in closed if not c.reached]
    told = [f"{_names(holding)} hold{'s' if len(holding) == 1 else ''} {asked} clients"] if holding else []
    told += [f"{c.contestant} has {most_open(c)} of {asked} at most" for c in others]
    return f"{'; '.join(told)}."


def _names(phased_loads: list[PhasedLoad]) -> str:
    *first, last = (crowd.contestant for crowd in phased_loads)
    return f"{', '.join(first)} and {last}" if first else last


def figures(result: RunResult) -> Iterator[dict[str, Any]]:
    """Every figure of every phase, as rows of the CSV form."""
    for c in result.phased_loads:
        about = {"contestant": c.contestant, "workload": c.workload}
        for name, found in (("clients held", c.held), ("most connections open", c.open_most)):
            plain = {"value": found.value, "low": found.low, "high": found.high}
            yield about | {"quantity": name, **plain, "unit": found.unit, "n": found.n, "note": found.note}
        for s in c.phases:
            for name, value, unit in (
                ("most connections open", s.open_most, ""),
                ("throughput", s.throughput_per_s, "/s"),
                ("share not as expected", s.error_share, "share"),
                *(
                    (f"time to {part} {q}", getattr(times, f"{q}_s"), "s")
                    for part, times in (("connect", s.connect), ("headers", s.headers), ("body", s.body))
                    for q in ("mean", "p50", "p90", "p99", "max")
                ),
                ("bytes to the server", s.to_server_per_s, "bytes/s"),
                ("bytes from the server", s.from_server_per_s, "bytes/s"),
                ("server CPU", s.server_cpu, "cores"),
                ("generator CPU", s.generator_cpu, "cores"),
            ):
                yield about | {"quantity": f"{s.name}: {name}", "value": value, "unit": unit}
