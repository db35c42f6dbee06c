"""Power, asked before a run: which difference a given number of rounds will find.

Contestants are compared round by round on the logarithmic scale, so what counts is how much a contestant
varies from round to round once the effects that a round has on all of them have cancelled. The power is that
of Student's test, or of Dunnett's if several contestants are compared with the first and their error is
pooled: noncentral t.
Source: Cohen, Statistical Power Analysis (1988), chapter 2; Dunnett, JASA 50 (1955).
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

from jostle.analysis.stats.dunnett import critical
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.analysis.stats.special import nctdtr, nctdtrinc

__all__ = ["POWER", "TYPICAL_SD", "detectable", "power"]

POWER = 0.8
"""A difference is called detectable if this share of all runs would find it."""

TYPICAL_SD: Mapping[str, float] = MappingProxyType({"throughput": 0.09, "p50": 0.09, "p99": 0.25})
"""Standard deviation of one contestant's ln(value) from round to round, assumed if nothing is known about it.
Medians over the committed runs and the demo's on a shared machine with two cores; p99 from 0.1 to 0.5."""


def power(change: float, rounds: int, sd: float, others: int = 1) -> float:
    """The chance of finding a relative `change` (0.2: a fifth more) with this number of rounds.

    `sd`: standard deviation of one contestant's ln(value) from round to round. `others`: number of
    contestants compared with the first one. 0 if there are too few rounds for an interval.
    """
    if rounds < MIN_ROUNDS:
        return 0.0
    df, limit = _test(rounds, others)
    apart = abs(math.log1p(change)) / (sd * math.sqrt(2 / rounds))
    return float(1 - nctdtr(df, apart, limit))


def detectable(rounds: int, sd: float, others: int = 1) -> float | None:
    """The smallest relative change found with `POWER`; None if there are too few rounds for an interval."""
    if rounds < MIN_ROUNDS:
        return None
    df, limit = _test(rounds, others)
    apart = float(nctdtrinc(df, 1 - POWER, limit))
    return math.expm1(apart * sd * math.sqrt(2 / rounds))


def _test(rounds: int, others: int) -> tuple[int, float]:
    """Degrees of freedom and critical value."""
    df = others * (rounds - 1)
    return df, critical(others, df)
