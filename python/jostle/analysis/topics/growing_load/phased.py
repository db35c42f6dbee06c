"""Clients that come, stay and go: whether the server held them all, and how each phase went.

An interval of the record belongs to the phase in which its middle lies. Connections are counted at the end of
each interval, as the clients see them: the kernel opens them before the server knows about them.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jostle.analysis.results import Estimate, Phase, PhasedLoad, PhasedTimeline, PhaseSummary, Times
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.over_rounds import mean_over_rounds
from jostle.analysis.stats.sample import Bools, Floats, Ints, pool, quantile_of
from jostle.analysis.summaries.trial import until_the_end
from jostle.analysis.topics.growing_load.ramp import ramp_steps
from jostle.analysis.trials.counters import Refusal
from jostle.analysis.trials.data import TrialData
from jostle.record.outcomes import outcome_label
from jostle.units import format_count, format_duration

__all__ = ["clients_held", "phased_loads", "sustained", "sustained_throughput"]

REACHED = 0.99
"""Share of the planned clients that counts as all of them: a few are always between two connections."""

TOTAL = "total"

PARTS = ("connect", "headers", "body")


def phased_loads(grouped: Mapping[Key, Sequence[TrialData]], titles: Mapping[Key, str]) -> list[PhasedLoad]:
    """One for each contestant and workload whose load has phases."""
    found = []
    for key, group in grouped.items():
        measured = [f for f in group if f.usable and f.phases]
        if measured:
            found.append(_phased_load(key, titles[key], measured))
    return found


def _phased_load(key: Key, title: str, trials: Sequence[TrialData]) -> PhasedLoad:
    planned_clients = _planned_clients(trials[0])
    max_open = [_max_open(data.counts.connections) for data in trials]
    typical = sorted(trials, key=lambda data: data.throughput)[len(trials) // 2]
    return PhasedLoad(
        contestant=key[0],
        workload=key[1],
        title=title,
        asked=planned_clients,
        open_most=mean_over_rounds(max_open, "connections"),
        held=_held(trials),
        reached=None if planned_clients is None else min(max_open) >= REACHED * planned_clients,
        refused=_first_refusal(trials),
        phases=[*(_phase_summary(trials, phase) for phase in typical.phases), _phase_summary(trials, None)],
        timeline=_timeline(typical),
        ramp=ramp_steps(typical),
    )


def _held(trials: Sequence[TrialData]) -> Estimate:
    shares = [share for data in trials if (share := clients_held(data)) is not None]
    if not shares:
        return Estimate(None, unit="share", note="there is no time in which all clients are to be there")
    return mean_over_rounds(shares, "share")


def _planned_clients(data: TrialData) -> int | None:
    """The most clients that the plan asks for at any time; None in an open loop."""
    return int(data.closed["clients"]) if data.closed is not None else None


def _max_open(open_connections: Ints) -> int:
    return int(open_connections.max(initial=0))


def sustained(data: TrialData) -> list[Phase]:
    """The phases in which all clients are present from beginning to end."""
    specs = (data.closed or {}).get("phases", [])
    full = {spec["name"] for spec in specs if spec["from"] == spec["to"] == _planned_clients(data)}
    return [phase for phase in data.phases if phase.name in full]


def clients_held(data: TrialData) -> float | None:
    """Connections open per planned client, 0 to 1, on average while all of them should be present.

    None if the load has no such phase, or did not reach it.
    """
    planned, sustaining = _planned_clients(data), data.within(sustained(data))
    if not planned or not sustaining.any():
        return None
    return float(np.mean(np.minimum(1.0, data.counts.connections[sustaining] / planned)))


def sustained_throughput(data: TrialData) -> float | None:
    """Successes per second while all clients should be present; None as in `clients_held`."""
    sustaining = data.within(sustained(data))
    return _per_second([(data, sustaining)], lambda data: data.counts.ok) if sustaining.any() else None


TrialPart = tuple[TrialData, Bools]
"""A trial, and which of its intervals belong to the part."""


def _length_s(parts: Sequence[TrialPart]) -> float:
    lengths = (data.counts.end_ns - data.counts.start_ns for data, _ in parts)
    return sum(int(length[mask].sum()) for length, (_, mask) in zip(lengths, parts, strict=True)) / 1e9


def _per_second(parts: Sequence[TrialPart], column: Callable[[TrialData], Ints]) -> float:
    length_s = _length_s(parts)
    return sum(int(column(data)[mask].sum()) for data, mask in parts) / length_s if length_s else 0.0


def _phase_summary(trials: Sequence[TrialData], phase: Phase | None) -> PhaseSummary:
    """One phase (None: all of them) over all rounds. Times are pooled, rates are means."""
    every = [(f, np.ones(len(f.lengths_s), np.bool_) if phase is None else f.within([phase])) for f in trials]
    parts = [(data, mask) for data, mask in every if mask.any()]
    connections = np.concatenate([f.counts.connections[mask] for f, mask in parts] or [np.zeros(0, int)])
    ended = _per_second(parts, lambda f: f.counts.ok + f.counts.failed)
    ok = _per_second(parts, lambda f: f.counts.ok)
    server = [cores for data, mask in parts if (cores := _server_cores(data, mask)) is not None]
    rounds = [data for data, _ in parts]
    return PhaseSummary(
        name=TOTAL if phase is None else phase.name,
        length_s=_length_s(parts) / len(parts) if parts else 0.0,
        open_most=_max_open(connections),
        open_mean=float(connections.mean()) if parts else 0.0,
        throughput_per_s=ok,
        error_share=(ended - ok) / ended if ended else 0.0,
        connect=_times(rounds, "connect", phase),
        headers=_times(rounds, "headers", phase),
        body=_times(rounds, "body", phase),
        to_server_per_s=_per_second(parts, lambda f: f.counts.bytes_out),
        from_server_per_s=_per_second(parts, lambda f: f.counts.bytes_in),
        server_cpu=float(np.mean(server)) if server else None,
        generator_cpu=_generator_cores(parts),
    )


def _times(rounds: Sequence[TrialData], part: str, phase: Phase | None) -> Times:
    sample = pool(f.parts[part].whole if phase is None else f.part_within(part, phase) for f in rounds)
    return Times(sample.n, sample.mean_s, *(quantile_of(sample, p) for p in (0.5, 0.9, 0.99, 1.0)))


def _server_cores(data: TrialData, mask: Bools) -> float | None:
    """Cores that the server's process tree used between the first and the last sample in these intervals."""
    return data.resource_usage.cores(int(data.counts.start_ns[mask][0]), int(data.counts.end_ns[mask][-1]))


def _generator_cores(parts: Sequence[TrialPart]) -> float:
    """Cores that all threads of all generators used."""
    length_s = _length_s(parts)
    used_ns = sum(int(data.counts.cpu_ns[mask].sum()) for data, mask in parts)
    return used_ns / 1e9 / length_s if length_s else 0.0


def _first_refusal(trials: Sequence[TrialData]) -> str:
    """When the first connection was refused or lost, in the round where this was earliest; "" if none was."""
    first = [_refusal_fields(data.counts.refusal) for data in trials if data.counts.refusal is not None]
    if not first:
        return ""
    at_s, opened, kinds = min(first)
    return f"after {format_duration(at_s)}, with {format_count(opened)} open: {kinds}"


def _refusal_fields(refusal: Refusal) -> tuple[float, int, str]:
    kinds = [f"{format_count(n)} {outcome_label(kind)}" for kind, n in refusal.kinds.items()]
    return refusal.start_s, refusal.connections, ", ".join(kinds)


def _timeline(data: TrialData) -> PhasedTimeline:
    """One trial interval by interval, for a picture."""
    counts = data.counts
    server_t_s, server_cpu, _ = data.resource_usage.line()

    def per_second(counted: Floats | Ints) -> list[float]:
        lengths_s = (counts.end_ns - counts.start_ns) / 1e9
        rates: list[float] = np.divide(
            counted, lengths_s, out=np.zeros(len(counted)), where=lengths_s > 0
        ).tolist()
        return rates

    return PhasedTimeline(
        trial=data.trial.number,
        t_s=data.middles_s.tolist(),
        clients=until_the_end(data, counts.clients),
        open=until_the_end(data, counts.connections),
        throughput_per_s=data.throughputs.tolist(),
        **{f"{part}_{name}_s": data.parts[part].figure(name) for name in ("mean", "p99") for part in PARTS},
        to_server_per_s=per_second(counts.bytes_out),
        from_server_per_s=per_second(counts.bytes_in),
        generator_cpu=per_second(counts.cpu_ns / 1e9),
        server_t_s=server_t_s,
        server_cpu=server_cpu,
        phases=data.phases,
    )
