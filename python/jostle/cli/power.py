"""What the rounds of a plan will find, as `jostle check` says it."""

import math
from collections.abc import Mapping

from jostle.analysis.stats.enough import TOO_FEW_ROUNDS
from jostle.analysis.stats.moderated import TYPICAL_SD
from jostle.analysis.stats.power import POWER, detectable
from jostle.formatting import listed, percent

__all__ = ["rounds_will_find"]


TOLD = ("throughput", "p50", "p99")


def rounds_will_find(rounds: int, others: int = 1) -> str:
    """A sentence for a plan: "5 rounds find a difference of …", by metric, if rounds vary as usual."""
    amounts: dict[str, list[str]] = {}
    spreads: dict[str, list[str]] = {}
    for metric in TOLD:
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


def _each(amounts: Mapping[str, list[str]]) -> str:
    """ "35 % (throughput, p50) and 150 % (p99)"."""
    return listed([f"{amount} ({', '.join(metrics)})" for amount, metrics in amounts.items()])


def _rough(change: float) -> str:
    """Rounded up to one or two digits, as the standard deviation is only a guess."""
    step = 0.01 if change < 0.1 else 0.05 if change < 1 else 0.5
    return percent(math.ceil(change / step - 1e-9) * step)
