"""What the rounds of a plan will find, as `jostle check` says it."""

import math
from collections.abc import Mapping

from jostle.analysis.stats.enough import TOO_FEW_ROUNDS
from jostle.analysis.stats.power import POWER, TYPICAL_SD, detectable
from jostle.formatting import listed, percent

__all__ = ["rounds_will_find"]


def rounds_will_find(rounds: int, others: int = 1, sds: Mapping[str, float] = TYPICAL_SD) -> str:
    """A sentence for a plan: "5 rounds find a difference of …", by quantity. `sds`: see `TYPICAL_SD`."""
    amounts: dict[str, list[str]] = {}
    spreads: dict[str, list[str]] = {}
    for quantity, sd in sds.items():
        change = detectable(rounds, sd, others)
        if change is None:
            counted = "1 round decides" if rounds == 1 else f"{rounds} rounds decide"
            return f"{counted} nothing: {TOO_FEW_ROUNDS}"
        amounts.setdefault(_rough(change), []).append(quantity)
        spreads.setdefault(percent(sd), []).append(quantity)
    return (
        f"{rounds} rounds find a difference of {_each(amounts)} in {percent(POWER)} of runs, if a server's "
        f"rounds vary by {_each(spreads)}"
    )


def _each(amounts: Mapping[str, list[str]]) -> str:
    """ "35 % (throughput, p50) and 150 % (p99)"."""
    return listed([f"{amount} ({', '.join(quantities)})" for amount, quantities in amounts.items()])


def _rough(change: float) -> str:
    """Rounded up to one or two digits, as the standard deviation is only a guess."""
    step = 0.01 if change < 0.1 else 0.05 if change < 1 else 0.5
    return percent(math.ceil(change / step - 1e-9) * step)
