"""Power, asked before a run: which difference a given number of rounds will find.

Contestants are compared round by round on the logarithmic scale, so what counts is how much a contestant
varies from round to round once the effects that a round has on all of them have cancelled. The power is that
of Student's test with the usual variance beside that of the rounds, or of Dunnett's if several contestants
are compared with the first and their error is pooled: noncentral t.
Source: Cohen, Statistical Power Analysis (1988), chapter 2; Dunnett, JASA 50 (1955).
"""

import math

from jostle.analysis.stats import noncentral_t
from jostle.analysis.stats.dunnett import critical
from jostle.analysis.stats.enough import MIN_ROUNDS

__all__ = ["POWER", "detectable", "detectable_with", "power"]

POWER = 0.8
"""A difference is called detectable if this share of all runs would find it."""

GAINED_DF = 0.8
"""Degrees of freedom that two contestants gain on average from what is usual (`moderated`): fewer than
`TYPICAL_DF`, as by chance their rounds often vary otherwise (simulated: tests/oracles/test_power.py)."""


def power(change: float, rounds: int, sd: float, others: int = 1) -> float:
    """The chance of finding a relative `change` (0.2: a fifth more) with this number of rounds.

    `sd`: standard deviation of one contestant's ln(value) from round to round, as usual. `others`: number of
    contestants compared with the first one. 0 if there are too few rounds for an interval.
    """
    if rounds < MIN_ROUNDS:
        return 0.0
    df, limit = _test(rounds, others)
    apart = abs(math.log1p(change)) / (sd * math.sqrt(2 / rounds))
    return 1 - noncentral_t.cdf(df, apart, limit)


def detectable(rounds: int, sd: float, others: int = 1) -> float | None:
    """The smallest relative change found with `POWER`; None if there are too few rounds for an interval."""
    if rounds < MIN_ROUNDS:
        return None
    return _detectable(sd * math.sqrt(2 / rounds), *_test(rounds, others))


def detectable_with(error: float, df: float) -> float:
    """The same for two contestants whose ln(ratio) was measured with this standard error."""
    return _detectable(error, df, critical(1, df))


def _detectable(error: float, df: float, limit: float) -> float:
    return math.expm1(noncentral_t.noncentrality(df, 1 - POWER, limit) * error)


def _test(rounds: int, others: int) -> tuple[float, float]:
    """Degrees of freedom and critical value."""
    df = others * (rounds - 1) + (GAINED_DF if others == 1 else 0)
    return df, critical(others, df)
