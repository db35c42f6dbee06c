"""What the rounds of a plan will find, as `jostle check` says it."""

import math
from collections.abc import Iterator, Mapping

from jostle.analysis.stats.enough import TOO_FEW_ROUNDS
from jostle.analysis.stats.moderated import TYPICAL_SD
from jostle.analysis.stats.power import POWER, detectable
from jostle.formatting import listed, percent
from jostle.plan import OpenLoad, Plan
from jostle.plan.criteria.requirement import Requirement
from jostle.runner.schedule import first_rounds

__all__ = ["out_of_reach", "rounds_will_find"]


MENTIONED = ("throughput", "p50", "p99")


def rounds_will_find(rounds: int, others: int = 1) -> str:
    """A sentence for a plan: "5 rounds find a difference of …", by metric, if rounds vary as usual."""
    amounts: dict[str, list[str]] = {}
    spreads: dict[str, list[str]] = {}
    for metric in MENTIONED:
        sd = TYPICAL_SD[metric]
        change = detectable(rounds, sd, others)
        if change is None:
            counted = "1 round tells" if rounds == 1 else f"{rounds} rounds tell"
            return f"{counted} no contestants apart: {TOO_FEW_ROUNDS}"
        amounts.setdefault(_rough(change), []).append(metric)
        spreads.setdefault(percent(sd), []).append(metric)
    return (
        f"{rounds} rounds find a difference of {_each(amounts)} in {percent(POWER)} of runs, if a server's "
        f"rounds vary by {_each(spreads)}"
    )


MANY_ROUNDS = 200
"""Nobody measures more rounds than this."""


def out_of_reach(plan: Plan) -> Iterator[str]:
    """Which requirements on differences the plan's rounds will hardly decide, and which are about nothing."""
    for require in (one for one in plan.require if one.of_difference):
        if why := _about_nothing(require, plan) or _too_fine(require, plan):
            yield f"{require.text}: {why}"


def _about_nothing(require: Requirement, plan: Plan) -> str:
    loads = [workload.load for name, workload in plan.selected.items() if require.workload in ("", name)]
    if (
        require.unwanted
        or require.condition.metric != "throughput"
        or not all(isinstance(load, OpenLoad) for load in loads)
    ):
        return ""
    return "the plan gives the rate, so the throughput is that of the plan as long as both keep up with it"


def _too_fine(require: Requirement, plan: Plan) -> str:
    """How many rounds it would take, if that is more than those that are sure to be measured."""
    if require.unwanted:
        metric, size = "p50", require.by or 1.0
    else:
        metric, size = require.condition.metric, abs(require.condition.limit)
        if not require.condition.relative:
            return ""
    rounds, sd, others = first_rounds(plan), TYPICAL_SD.get(metric), len(plan.contestants) - 1
    if sd is None or not size or (found := detectable(rounds, sd, others)) is None or found <= size:
        return ""
    enough = (n for n in range(rounds, MANY_ROUNDS + 1) if (detectable(n, sd, others) or math.inf) <= size)
    takes = next((f"about {n}" for n in enough), f"more than {MANY_ROUNDS}")
    finds = f"{rounds} rounds find a difference of {_rough(found)} in {metric}"
    return f"{finds}; one of {percent(size)} takes {takes}"


def _each(amounts: Mapping[str, list[str]]) -> str:
    """Sizes with their metrics: "35 % (throughput, p50) and 150 % (p99)"."""
    return listed([f"{amount} ({', '.join(metrics)})" for amount, metrics in amounts.items()])


def _rough(change: float) -> str:
    """Rounded up to one or two digits, as the standard deviation is only a guess."""
    step = 0.01 if change < 0.1 else 0.05 if change < 1 else 0.5
    return percent(math.ceil(change / step - 1e-9) * step)
