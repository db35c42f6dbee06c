"""One or two rounds, with an interval that says where a typical start may lie.

A round tells what happened in it, with an interval over its requests. How much the next one will differ it
cannot tell, but the other cells of the run, or recorded runs, can (`Usual`). Both are independent reasons for
the figure to be off, so their squares add.
"""

import math
from dataclasses import replace

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats import student
from jostle.analysis.stats.moderated import Spread, Usual, moderated
from jostle.analysis.stats.quantile_ci import CONFIDENCE

__all__ = ["factor_between_runs", "of_few_rounds", "spread_over_rounds"]

LARGEST = 700.0
"""Larger powers of e than this are no floating point numbers."""


def spread_over_rounds(found: Estimate, usual: Usual, variance_in_a_round: float) -> Spread:
    """How much the rounds of `found` vary. `variance_in_a_round`: the variance that few requests explain in a
    round.

    If `found` is of one round and has an interval over its requests, that holds what they explain.
    """
    return moderated(
        Spread.of(np.log(found.rounds)), usual.spread(0.0 if found.this_run_only else variance_in_a_round)
    )


def of_few_rounds(found: Estimate, spread: Spread, confidence: float) -> Estimate | None:
    """`found`, of one or two rounds, with an interval over rounds; None if its own interval is not known."""
    if not found.value or (found.this_run_only and found.low is None):
        return None
    reach = _reach(spread, confidence) / math.sqrt(len(found.rounds))
    low, high = (
        found.value * math.exp(sign * min(LARGEST, math.hypot(reach, _own(end, found.value))))
        for sign, end in ((-1, found.low), (1, found.high))
    )
    return replace(found, low=low, high=None if found.bound else high, note="", this_run_only=False)


def factor_between_runs(spread: Spread) -> float:
    """By which factor runs of one round differ from a typical one at most, in 95 % of them."""
    return math.exp(min(LARGEST, _reach(spread, CONFIDENCE)))


def _reach(spread: Spread, confidence: float) -> float:
    return student.quantile(spread.df, (1 + confidence) / 2) * math.sqrt(spread.variance)


def _own(end: float | None, value: float) -> float:
    """How far the interval over requests reaches to one side, as a logarithm."""
    if end is None:
        return 0.0
    return abs(math.log(end / value)) if end > 0 else LARGEST
