"""Intervals by resampling rounds, where Student's interval is not suitable: ranks and bands.

Source: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time (ISMM 2013): resample from the top level
down. With five rounds the plain percentile interval misses in 17 % of all cases instead of 5 % (simulated);
the intervals here are widened as in Hesterberg, The American Statistician 69 (2015).
"""

import math
from collections.abc import Sequence

import numpy as np

from jostle.analysis.stats import normal, student
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sample import Floats, Ints, WeightedSample, pool

__all__ = [
    "QUANTILE_RESAMPLES",
    "aligned",
    "how_often",
    "picks",
    "quantile_replicates",
    "stretch",
    "widened",
]

QUANTILE_RESAMPLES = 500
"""No more than this, because each resample merges all histograms of its rounds."""

TABLE = 250_000
"""Resamples are processed in tables of about this many numbers, which fit in the processor's cache."""


def quantile_replicates(rounds: Sequence[WeightedSample], levels: Sequence[float], chosen: Ints) -> Floats:
    """Quantiles (s) of resampled rounds, shape (levels, resamples); `levels` must be ascending.

    Requests are not resampled: the rounds already contain their noise, which would count twice. Infinite if
    censored requests hide the quantile, or if nothing was measured. Source: Davison and Hinkley, Bootstrap
    Methods and their Application (1997), section 3.8.
    """
    values = pool(rounds).values_s
    events, censored = (aligned(rounds, name, values) for name in ("events", "censored"))
    never = np.array([float(sample.never) for sample in rounds])
    times = how_often(chosen, len(rounds))
    ends = np.append(values, math.inf)
    replicates = np.full((len(levels), len(chosen)), math.inf)
    wanted = np.array(levels) - 1e-12
    step = max(1, TABLE // max(1, len(values)))
    for start in range(0, len(chosen), step):
        part = slice(start, start + step)
        curves = _curves(times[part], events, censored, never)
        reached = [np.searchsorted(curve, wanted) for curve in curves]
        replicates[:, part] = ends[np.array(reached).T]
    return replicates


def how_often(chosen: Ints, rounds: int) -> Floats:
    """How often each resample contains each round, shape (resamples, rounds)."""
    return np.array([np.bincount(resample, minlength=rounds) for resample in chosen], dtype=float)


def aligned(rounds: Sequence[WeightedSample], name: str, values: Floats) -> Floats:
    """The counts `name` of each round, shape (rounds, values).

    `values` must be ascending and contain the values of all rounds.
    """
    table = np.zeros((len(rounds), len(values)))
    for row, sample in zip(table, rounds, strict=True):
        row[np.searchsorted(values, sample.values_s)] = getattr(sample, name)
    return table


def _curves(multiplicity: Floats, events: Floats, censored: Floats, never: Floats) -> Floats:
    """Product-limit distribution functions, one per row."""
    gone = _weighted(multiplicity, events + censored)
    both: Floats = np.cumsum(gone, axis=1)
    n: Floats = np.maximum(both[:, -1] + multiplicity @ never, 1.0)
    if not censored.any():
        return both / n[:, None]
    at_risk = np.maximum(n[:, None] - both + gone, 1)
    return np.asarray(1 - np.cumprod(1 - _weighted(multiplicity, events) / at_risk, axis=1))


def _weighted(multiplicity: Floats, counts: Floats) -> Floats:
    """Matrix product without a linear algebra library, whose threads cost more than these few rows."""
    return np.asarray(np.einsum("br,rk->bk", multiplicity, counts))


def widened(
    value: float, replicates: Floats, rounds: int, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """The percentile interval around `value`, stretched for the small number of rounds."""
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(replicates, tails, method="inverted_cdf")
    factor = stretch(rounds, confidence) / normal.quantile((1 + confidence) / 2)
    return value - factor * max(0.0, value - float(low)), value + factor * max(0.0, float(high) - value)


def stretch(rounds: int, confidence: float = CONFIDENCE) -> float:
    """The factor from a bootstrap standard error to half an interval, for this number of rounds."""
    return _t(rounds, confidence) * math.sqrt(rounds / (rounds - 1))


def picks(rounds: int, seed: int, resamples: int = QUANTILE_RESAMPLES) -> Ints:
    """Resamples of round numbers, one per row."""
    return np.random.default_rng(seed).integers(0, rounds, (resamples, rounds))


def _t(rounds: int, confidence: float) -> float:
    return student.quantile(rounds - 1, (1 + confidence) / 2)
