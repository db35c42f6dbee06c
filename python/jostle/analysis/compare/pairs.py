"""Which contestants are compared with which: each with the plan's first one, under the same workload."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from jostle.analysis.compare.family import family_of, usual_differences
from jostle.analysis.compare.page import beyond_chance
from jostle.analysis.compare.sentences import summary
from jostle.analysis.compare.side import Round, Side, pair
from jostle.analysis.compare.sides import compare_sides
from jostle.analysis.results import Comparison, WorkloadSummary
from jostle.analysis.results.keys import Key
from jostle.analysis.stats.enough import REQUESTS_FOR_A_SHAPE
from jostle.analysis.stats.moderated import UsualOf
from jostle.analysis.stats.sequential import ConfidenceRule, fixed
from jostle.analysis.trials.data import TrialData

__all__ = ["definition", "differs", "not_compared", "side", "with_the_first", "without_given_rate"]


def with_the_first(
    grouped: Mapping[Key, Sequence[TrialData]],
    summaries: Mapping[Key, WorkloadSummary],
    order: Sequence[str],
    usual: UsualOf,
    primary: str = "",
    confidence_rule: ConfidenceRule = fixed,
) -> list[Comparison]:
    """Each contestant against the first of `order`, by workload.

    Only those with at least 2 rounds and enough requests for a distribution. `primary`: the metric that the
    plan names; by default, the throughput of a closed loop and the p99 of an open one.
    """
    rank = {name: i for i, name in enumerate(order)}
    workloads: dict[str, list[Side]] = {}
    for workload in dict.fromkeys(w for _, w in summaries):
        names = [name for name, w in summaries if w == workload]
        names.sort(key=lambda name: rank.get(name, len(rank)))
        sides = [side(grouped[name, workload], summaries[name, workload], name, usual) for name in names]
        workloads[workload] = [s for s in sides if len(s.rounds) >= 2 and s.pooled.n >= REQUESTS_FOR_A_SHAPE]
    pairs = {w: [pair(sides[0], other) for other in sides[1:]] for w, sides in workloads.items()}
    differences = usual_differences([two for of_workload in pairs.values() for two in of_workload])
    found: list[Comparison] = []
    for workload, sides in workloads.items():
        family = family_of(sides, confidence_rule, differences)
        for two in pairs[workload]:
            trials = grouped[two[0].label, workload]
            compared = replace(compare_sides(*two, family), primary=primary or _primary(trials))
            found.append(without_given_rate(compared, trials))
    return beyond_chance(found)


def without_given_rate(c: Comparison, trials: Sequence[TrialData]) -> Comparison:
    """The comparison without the throughput of an open loop if both kept up: it was prescribed to them."""
    if all(f.open is None for f in trials):
        return c
    kept = [d for d in c.differences if d.metric != "throughput" or d.finding != "same"]
    shorter = replace(c, differences=kept)
    return replace(shorter, sentence=summary(shorter))


def not_compared(metric: str) -> str:
    """Why a comparison is without this metric."""
    if metric == "throughput":
        return "the plan gives the throughput, and both kept up with it"
    return f"{metric} was not measured"


def _primary(trials: Sequence[TrialData]) -> str:
    """The metric that a load is meant to find out; an open loop prescribes the throughput."""
    return "p99" if any(f.open is not None for f in trials) else "throughput"


def side(
    trials: Sequence[TrialData], summary: WorkloadSummary, label: str, usual: UsualOf, run: str = ""
) -> Side:
    """One side of a comparison: sides of the same `run` are paired by round."""
    measured = [f for f in trials if f.usable]
    rounds = sorted((Round.of(f) for f in measured), key=lambda r: r.number)
    return Side(label, summary, rounds, run, usual=usual)


def definition(trials: Sequence[TrialData]) -> dict[str, Any]:
    """What was asked, how, and beside what, as the engine was told, but without addresses and names.

    Empty if no load was sent in any of the trials.
    """
    found: dict[str, Any] = {}
    engines = (data.trial.description.get("engine") for data in trials)
    spec = next(filter(None, engines), {})
    for workload in spec.get("workloads", []):
        for key, value in workload.items():
            if key not in ("name", "target", "role"):
                found[f"{workload.get('role', '')} {key}".strip()] = value
    return found


def differs(a: Sequence[TrialData], b: Sequence[TrialData]) -> str:
    """How the workload of `a` differs from that of `b`; empty if it does not, or if one sent no load."""
    ours, theirs = definition(a), definition(b)
    if not ours or not theirs or ours == theirs:
        return ""
    path, one, other = _first_difference((), ours, theirs)
    return f"{', '.join(path)}: {_short(one)} against {_short(other)}"


def _first_difference(path: tuple[str, ...], a: Any, b: Any) -> tuple[tuple[str, ...], Any, Any]:
    """For two values that differ: the path of the first difference, and what either has there."""
    if not (isinstance(a, Mapping) and isinstance(b, Mapping)):
        return path, a, b
    key = next(key for key in dict.fromkeys([*a, *b]) if a.get(key) != b.get(key))
    return _first_difference((*path, key), a.get(key), b.get(key))


def _short(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value)
    return text if len(text) <= 160 else text[:159] + "…"
