"""A crowd that comes, stays and goes: who held it, and how each phase went.

An interval of the record belongs to the phase in which its middle lies. Connections are counted at the end of
each interval, as the clients see them: the kernel opens them before the server knows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.analysis.bootstrap import mean_over_rounds
from jostle.analysis.facts import MEASURED, Facts
from jostle.analysis.histograms import EMPTY, Sample, from_histograms, pool
from jostle.analysis.pairs import Key
from jostle.analysis.result import Crowd, CrowdCourse, Estimate, Phase, Stage, Times
from jostle.analysis.trial import cpu_s, phases_of, quantile_of, server_line
from jostle.units import format_count

__all__ = ["clients_held", "crowds", "sustained_throughput", "time_to_headers"]

REACHED = 0.99
"""Of the clients that were asked for: a few are always between two connections."""

REFUSALS = ("connect_refused", "connect_timeout", "connect_failed", "reset", "closed_early")

IN_ALL = "in all"

PARTS = ("connect", "headers", "body")

Interval = Mapping[str, Any]


@dataclass(frozen=True)
class Round:
    """One trial, with what was recorded of each part of its requests, by the start of the interval."""

    facts: Facts
    samples: Mapping[str, Mapping[int, Sample]]


def crowds(grouped: Mapping[Key, Sequence[Facts]], titles: Mapping[Key, str]) -> list[Crowd]:
    """One for each contestant and workload whose load has phases."""
    found = []
    for key, group in grouped.items():
        measured = [f for f in group if f.usable and phases_of(f)]
        if measured:
            found.append(_crowd(key, titles[key], measured))
    return found


def _crowd(key: Key, title: str, trials: Sequence[Facts]) -> Crowd:
    asked = _asked(trials[0])
    most = [_most_open(facts.intervals) for facts in trials]
    rounds = [Round(facts, {part: _samples(facts, part) for part in PARTS}) for facts in trials]
    typical = sorted(rounds, key=lambda one: one.facts.throughput)[len(rounds) // 2]
    return Crowd(
        contestant=key[0],
        workload=key[1],
        title=title,
        asked=asked,
        open_most=mean_over_rounds(most, "connections"),
        held=_held(trials),
        reached=None if asked is None else min(most) >= REACHED * asked,
        refused=_first_refusal(trials),
        stages=[
            *(
                _stage(phase.name, [(one, _within(one.facts, [phase])) for one in rounds])
                for phase in phases_of(typical.facts)
            ),
            _stage(IN_ALL, [(one, one.facts.intervals) for one in rounds]),
        ],
        course=_course(typical),
    )


def _held(trials: Sequence[Facts]) -> Estimate:
    shares = [share for facts in trials if (share := clients_held(facts)) is not None]
    if not shares:
        return Estimate(None, unit="share", note="there is no time in which all clients are to be there")
    return mean_over_rounds(shares, "share")


def _asked(facts: Facts) -> int | None:
    """The most clients that the plan has at any time; None in an open loop."""
    return int(facts.closed["clients"]) if facts.closed is not None else None


def _state(interval: Interval) -> Mapping[str, int]:
    state: Mapping[str, int] = interval["workloads"][MEASURED]
    return state


def _most_open(intervals: Sequence[Interval]) -> int:
    return max((_state(interval)["connections"] for interval in intervals), default=0)


def _within(facts: Facts, phases: Sequence[Phase]) -> list[Interval]:
    """The intervals whose middle lies in one of the phases."""
    return [
        interval
        for interval in facts.intervals
        if any(p.start_s <= (interval["start_ns"] + interval["end_ns"]) / 2e9 < p.end_s for p in phases)
    ]


def _sustained(facts: Facts) -> list[Interval]:
    """The intervals of the phases in which all clients are there from beginning to end."""
    specs = (facts.closed or {}).get("phases", [])
    full = {spec["name"] for spec in specs if spec["from"] == spec["to"] == _asked(facts)}
    return _within(facts, [phase for phase in phases_of(facts) if phase.name in full])


def clients_held(facts: Facts) -> float | None:
    """Connections open for each client asked for, on average while all of them are to be there, 0 to 1.

    None where the load has no such phase, or did not come to it.
    """
    asked, intervals = _asked(facts), _sustained(facts)
    if not asked or not intervals:
        return None
    return float(np.mean([min(1.0, _state(interval)["connections"] / asked) for interval in intervals]))


def sustained_throughput(facts: Facts) -> float | None:
    """Successes per second while all clients are to be there; None as above."""
    intervals = _sustained(facts)
    return _rate(intervals, lambda series: series["outcomes"].get("ok", 0)) if intervals else None


def time_to_headers(facts: Facts) -> float | None:
    """Mean time from the send to the end of the answer's headers, of the answered, in seconds; as above."""
    intervals = _sustained(facts)
    starts = {interval["start_ns"] for interval in intervals}
    return pool([s for start, s in _samples(facts, "headers").items() if start in starts]).mean_s


def _samples(facts: Facts, measure: str) -> dict[int, Sample]:
    """What was recorded of a measure in each interval, by the interval's start."""
    found = facts.trial.interval_histograms(measure, MEASURED)
    return {
        interval["start_ns"]: EMPTY if histogram is None else from_histograms([histogram])
        for interval, histogram in zip(facts.intervals, found, strict=True)
    }


def _length_s(intervals: Sequence[Interval]) -> float:
    length_ns: int = sum(interval["end_ns"] - interval["start_ns"] for interval in intervals)
    return length_ns / 1e9


def _rate(intervals: Sequence[Interval], count: Callable[[Mapping[str, Any]], int]) -> float:
    """What `count` says of each series of the measured workload, per second."""
    series = (s for interval in intervals for s in interval["series"] if s["workload"] == MEASURED)
    length_s = _length_s(intervals)
    return sum(map(count, series)) / length_s if length_s else 0.0


def _stage(name: str, rounds: Sequence[tuple[Round, Sequence[Interval]]]) -> Stage:
    """One phase of all rounds: times are pooled, rates are means."""
    there = [(one, intervals) for one, intervals in rounds if intervals]
    every = [interval for _, intervals in there for interval in intervals]
    ended = _rate(every, lambda s: sum(s["outcomes"].values()) - _cut_off(s["outcomes"]))
    ok = _rate(every, lambda s: s["outcomes"].get("ok", 0))
    server = [cores for one, its in there if (cores := _server_cores(one.facts, its)) is not None]
    return Stage(
        name=name,
        length_s=_length_s(every) / len(there) if there else 0.0,
        open_most=_most_open(every),
        open_mean=float(np.mean([_state(i)["connections"] for i in every])) if every else 0.0,
        throughput_per_s=ok,
        error_share=(ended - ok) / ended if ended else 0.0,
        connect=_times(there, "connect"),
        headers=_times(there, "headers"),
        body=_times(there, "body"),
        to_server_per_s=_rate(every, lambda s: s["bytes_out"]),
        from_server_per_s=_rate(every, lambda s: s["bytes_in"]),
        server_cpu=float(np.mean(server)) if server else None,
        generator_cpu=_generator_cores(every),
    )


def _cut_off(outcomes: Mapping[str, int]) -> int:
    return outcomes.get("unfinished", 0) + outcomes.get("never_sent", 0)


def _times(rounds: Sequence[tuple[Round, Sequence[Interval]]], part: str) -> Times:
    sample = pool([one.samples[part][i["start_ns"]] for one, intervals in rounds for i in intervals])
    return Times(sample.n, sample.mean_s, *(quantile_of(sample, p) for p in (0.5, 0.9, 0.99, 1.0)))


def _server_cores(facts: Facts, intervals: Sequence[Interval]) -> float | None:
    """Cores that the server's process tree used, between the first and the last sample of the time."""
    start, end = intervals[0]["start_ns"], intervals[-1]["end_ns"]
    samples = [sample for sample in facts.vitals if start <= sample["t_ns"] <= end]
    if len(samples) < 2 or samples[-1]["t_ns"] == samples[0]["t_ns"]:
        return None
    length_s: float = (samples[-1]["t_ns"] - samples[0]["t_ns"]) / 1e9
    return (cpu_s(samples[-1]) - cpu_s(samples[0])) / length_s


def _generator_cores(intervals: Sequence[Interval]) -> float:
    """Cores that all threads of all generators used."""
    length_s = _length_s(intervals)
    used_ns: int = sum(thread["cpu_ns"] for interval in intervals for thread in interval["threads"])
    return used_ns / 1e9 / length_s if length_s else 0.0


def _first_refusal(trials: Sequence[Facts]) -> str:
    """When the first connection was refused or lost, in whichever round this came first; "" when none was."""
    first = [refusal for facts in trials if (refusal := _refusal(facts)) is not None]
    if not first:
        return ""
    at_s, opened, kinds = min(first)
    return f"after {at_s:.3g} s, with {format_count(opened)} open: {kinds}"


def _refusal(facts: Facts) -> tuple[float, int, str] | None:
    for interval in facts.intervals:
        kinds = {
            kind: sum(s["outcomes"].get(kind, 0) for s in interval["series"] if s["workload"] == MEASURED)
            for kind in REFUSALS
        }
        told = ", ".join(f"{format_count(n)} {kind.replace('_', ' ')}" for kind, n in kinds.items() if n)
        if told:
            return interval["start_ns"] / 1e9, _state(interval)["connections"], told
    return None


def _course(typical: Round) -> CrowdCourse:
    """Interval by interval, for a picture."""
    facts = typical.facts
    intervals = facts.intervals
    times = {part: list(found.values()) for part, found in typical.samples.items()}
    server_t_s, server_cpu, _ = server_line(facts.vitals)
    return CrowdCourse(
        trial=facts.trial.number,
        t_s=[(i["start_ns"] + i["end_ns"]) / 2e9 for i in intervals],
        clients=[None if i["last"] else _state(i)["clients"] for i in intervals],
        open=[None if i["last"] else _state(i)["connections"] for i in intervals],
        throughput_per_s=facts.throughputs.tolist(),
        **{f"{part}_mean_s": [sample.mean_s for sample in found] for part, found in times.items()},
        **{f"{part}_p99_s": [quantile_of(sample, 0.99) for sample in found] for part, found in times.items()},
        to_server_per_s=[_rate([i], lambda s: s["bytes_out"]) for i in intervals],
        from_server_per_s=[_rate([i], lambda s: s["bytes_in"]) for i in intervals],
        generator_cpu=[_generator_cores([i]) for i in intervals],
        server_t_s=server_t_s,
        server_cpu=server_cpu,
        phases=phases_of(facts),
    )
