"""Several contestants against the first, round by round, on the logarithmic scale.

All are compared with the same first one, so Dunnett's critical value keeps the chance of any false alarm.
The error is pooled over contestants, with rounds as blocks, which makes up for the lost power. Pooling
assumes that all vary alike from round to round. If they do not, each comparison has its own error, and the
level is divided (Bonferroni). Source: Dunnett, JASA 50 (1955); Hochberg and Tamhane, Multiple Comparison
Procedures (1987), section 4.2.
"""

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from jostle.analysis.stats import student
from jostle.analysis.stats.dunnett import critical, within
from jostle.analysis.stats.moderated import RESOLUTION, Spread, moderated
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sample import Floats

__all__ = ["Contrast", "Pooled", "against_first", "own_limit", "pooled"]

ALIKE = 0.9
"""Contestants count as varying alike unless their variances are further apart than in this share of the
cases in which they do vary alike."""

DRAWN = 4000


@dataclass(frozen=True)
class Pooled:
    """Variance of a contestant's ln(value) after removing what a round does to all contestants."""

    variance: float
    df: int


@dataclass(frozen=True)
class Contrast:
    """Mean of ln(other/first) over rounds. `p` is two-sided, and for this comparison alone."""

    middle: float
    half: float  # half-width of the interval that holds for all contestants at once
    p: float
    p_of_all: float  # the same, adjusted for all comparisons with the first
    error: float  # standard error of `middle`
    df: float  # degrees of freedom of that


def pooled(logs: Floats) -> Pooled | None:
    """The pooled error of ln(value), shape (contestants, rounds).

    None if contestants do not vary alike, or if there are fewer than 3 contestants or rounds.
    """
    contestants, rounds = logs.shape
    if contestants < 3 or rounds < 3 or _apart(logs[None])[0] > _apart_by_chance(contestants, rounds):
        return None
    residuals = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0, keepdims=True) + logs.mean()
    df = (contestants - 1) * (rounds - 1)
    return Pooled(float((residuals**2).sum()) / df, df)


def against_first(
    first: Floats,
    other: Floats,
    others: int,
    error: Pooled | None,
    confidence: float = CONFIDENCE,
    usual: Spread | None = None,
) -> Contrast:
    """Compare one of `others` contestants with the first, by ln(value) in the same rounds, at least 2.

    `usual`: the spread of differences that is usual; it counts unless there is a pooled error.
    """
    differences = other - first
    n = len(differences)
    if error is None:
        own = moderated(Spread.of(differences), usual)
        variance, df, limit = own.variance, own.df, own_limit(others, own.df, confidence)
    else:
        variance, df = max(2 * error.variance, RESOLUTION**2), error.df
        limit = critical(others, error.df, confidence)
    se = math.sqrt(variance / n)
    middle = float(differences.mean())
    errors = abs(middle) / se
    p = 2 * student.cdf(df, -errors)
    p_of_all = min(1.0, others * p) if error is None else 1 - within(errors, others, error.df)
    return Contrast(middle, limit * se, p, p_of_all, se, df)


def own_limit(others: int, df: float, confidence: float = CONFIDENCE) -> float:
    """Critical value if each comparison has its own error."""
    return student.quantile(df, 1 - (1 - confidence) / (2 * others))


def _apart(logs: Floats) -> Floats:
    """Largest over smallest variance of the difference of two contestants, for each case.

    `logs` has the shape (cases, contestants, rounds).
    """
    pairs = itertools.combinations(range(logs.shape[1]), 2)
    variances = np.array([(logs[:, i] - logs[:, j]).var(axis=1, ddof=1) for i, j in pairs])
    return np.asarray(variances.max(axis=0) / np.maximum(variances.min(axis=0), RESOLUTION**2))


@lru_cache(maxsize=64)
def _apart_by_chance(contestants: int, rounds: int) -> float:
    """What `_apart` stays below in `ALIKE` of the cases where all vary alike; simulated with a fixed seed."""
    drawn = np.random.default_rng(0).normal(size=(DRAWN, contestants, rounds))
    return float(np.quantile(_apart(drawn), ALIKE))
