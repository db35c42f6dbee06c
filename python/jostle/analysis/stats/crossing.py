"""The level at which a share crosses a limit: an interval from blocks of observations at several levels.

Near the crossing, the logit of the share is modelled as a parabola in the level (the tail of a queue's waits
is nearly a line): logit p(x) = logit p* + b z + c z², z = x/x* - 1, b > 0. For every candidate x* the most
likely slope and curvature are found; the interval contains the x* that the likelihood ratio does not reject.
Observations in a block depend on one another, and blocks differ by more than chance. So each block has its
own level on the logit scale, with an estimated variance (Williams' method II), and the larger the part of
its variation that is its own, the less it counts. The remaining dispersion, at least 1, divides the ratio,
which is compared with Student's quantile. Sources: Williams, Applied Statistics 31 (1982); profile
likelihood: Venzon and Moolgavkar, Applied Statistics 37 (1988).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jostle.analysis.stats import student
from jostle.analysis.stats.sample import Bools, Floats

__all__ = ["CONFIDENCE", "Crossing", "crossing"]

CONFIDENCE = 0.95

EVEN = 0.5
"""The crossing is reported as the middle of the interval with this confidence. The likeliest crossing would
be misleading: if nothing was measured between a level within the limit and one far above it, it has the
steepest slope and lies at the upper end, though others are hardly less likely.
"""

CANDIDATES, ROUGHLY = 301, 61
MIN_SLOPE, MAX_SLOPE = 0.5, 400.0
NEWTON, MAX_STEP = 25, 20.0

PULL = 1e-4
"""How strongly the curvature is pulled to zero: a normal prior with standard deviation 100."""

MAX_VARIANCE = 9.0
"""Largest variance of the blocks' own levels, on the logit scale."""

BEYOND = 2.0
"""The crossing is searched up to this factor beyond the levels near it, within those that were measured."""

ROUNDS = 3
HALVINGS = 30

NEAR = (1 / 10, 6.0)
"""Levels whose share lies between these multiples of the limit count as near the crossing."""

MIN_DEGREES_OF_FREEDOM = 2


class Crossing(NamedTuple):
    """The crossing with its interval. An end that the levels do not bound is the lowest or highest level."""

    level: float
    low: float
    high: float
    bounded: bool  # both ends lie within the levels that were measured
    likeliest: float  # where to look next


def crossing(
    levels: Sequence[float],
    n: Sequence[float],
    exceeded: Sequence[float],
    limit: float,
    confidence: float = CONFIDENCE,
) -> Crossing | None:
    """Estimate the crossing from blocks, each of `n` observations at one of `levels` (> 0).

    `exceeded`: how many of each block count towards the share. None unless the shares of some levels lie
    above the limit and those of others at or below it.
    """
    x, total, k = (np.asarray(column, float) for column in (levels, n, exceeded))
    lowest, highest = float(x.min()), float(x.max())
    near = _near(x, total, k, limit)
    x, total, k = x[near], total[near], k[near]
    if not _straddles(x, total, k, limit):
        return None
    free = max(MIN_DEGREES_OF_FREEDOM, len(x) - 3)
    rough = np.linspace(float(x.min()), float(x.max()), ROUGHLY)
    weights = np.ones(len(x))
    for _ in range(ROUNDS):
        slopes, logs = _profile(rough, x, total * weights, k * weights, limit)
        at = int(np.argmax(logs))
        share = _shares(rough[at : at + 1], slopes[at : at + 1], x, limit)[0]
        weights = _weights(share, total, k, free)
    candidates = np.geomspace(
        max(lowest, float(x.min()) / BEYOND), min(highest, float(x.max()) * BEYOND), CANDIDATES
    )
    slopes, logs = _profile(candidates, x, total * weights, k * weights, limit)
    top = float(logs.max())
    dispersion = max(1.0, _pearson(share, total, k, weights) / free)

    def accepted(confidence: float) -> Floats:
        allowed = dispersion * student.quantile(free, (1 + confidence) / 2) ** 2 / 2
        return np.asarray(candidates[logs >= top - allowed])

    likeliest = float(np.mean(candidates[logs >= top - 1e-9]))
    inside = accepted(confidence)
    low, high = float(inside.min()), float(inside.max())
    return Crossing(float(np.mean(accepted(EVEN))), low, high, low > lowest and high < highest, likeliest)


def _weights(share: Floats, n: Floats, k: Floats, free: int) -> Floats:
    """The weight of each block's observations: 1 if blocks differ by chance only."""

    def weighed(variance: float) -> Floats:
        return np.asarray(1 / (1 + n * share * (1 - share) * variance))

    low, high = 0.0, MAX_VARIANCE
    if _pearson(share, n, k, weighed(0.0)) <= free:
        return weighed(0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _pearson(share, n, k, weighed(middle)) > free else (low, middle)
    return weighed(high)


def _pearson(share: Floats, n: Floats, k: Floats, weights: Floats) -> float:
    expected = np.maximum(n * share * (1 - share), 0.25)
    return float((weights * (k - n * share) ** 2 / expected).sum())


def _near(x: Floats, n: Floats, k: Floats, limit: float) -> Bools:
    """Mask of the blocks at levels near the crossing; on a side that has none, those at the nearest level."""
    shares = {
        level: (k[x == level].sum() + 0.25) / (n[x == level].sum() + 0.5) for level in np.unique(x).tolist()
    }
    low, high = NEAR[0] * limit, min(NEAR[1] * limit, 0.5)
    kept = {level for level, share in shares.items() if low <= share <= high}
    raw = {level: k[x == level].sum() / n[x == level].sum() for level in shares}
    below = [level for level in raw if raw[level] <= limit]
    above = [level for level in raw if raw[level] > limit]
    if below and not kept & set(below):
        kept.add(max(below))
    if above and not kept & set(above):
        kept.add(min(above))
    return np.isin(x, sorted(kept))


def _straddles(x: Floats, n: Floats, k: Floats, limit: float) -> bool:
    shares = {level: k[x == level].sum() / n[x == level].sum() for level in np.unique(x).tolist()}
    return len(shares) > 1 and min(shares.values()) <= limit < max(shares.values())


def _shares(at: Floats, slopes: Floats, x: Floats, limit: float) -> Floats:
    """The modelled shares at `x`, a row for each candidate in `at`; `slopes`: its slope and curvature."""
    z = x[None, :] / at[:, None] - 1
    logit = math.log(limit / (1 - limit)) + slopes[:, :1] * z + slopes[:, 1:] * z * z
    return np.asarray(1 / (1 + np.exp(-np.clip(logit, -500, 500))))


def _profile(at: Floats, x: Floats, n: Floats, k: Floats, limit: float) -> tuple[Floats, Floats]:
    """The most likely slope and curvature through each candidate, and their log likelihood.

    The likelihood is concave in both, so Newton's method finds them. Steps are limited, and the curvature is
    weakly pulled to zero, so that two levels are enough.
    """
    z = x[None, :] / at[:, None] - 1
    slopes = np.tile([10.0, 0.0], (len(at), 1))
    for _ in range(NEWTON):
        share = _shares(at, slopes, x, limit)
        off, spread = k - n * share, n * share * (1 - share)
        score = np.stack([(z * off).sum(1), (z * z * off).sum(1) - PULL * slopes[:, 1]], axis=1)
        a, b, c = (spread * z**2).sum(1) + 1e-9, (spread * z**3).sum(1), (spread * z**4).sum(1) + PULL
        area = np.maximum(a * c - b * b, 1e-12)
        step = np.stack([c * score[:, 0] - b * score[:, 1], a * score[:, 1] - b * score[:, 0]], axis=1)
        slopes = slopes + np.clip(step / area[:, None], -MAX_STEP, MAX_STEP)
        slopes[:, 0] = np.clip(slopes[:, 0], MIN_SLOPE, MAX_SLOPE)
    share = np.clip(_shares(at, slopes, x, limit), 1e-15, 1 - 1e-15)
    logs = (k * np.log(share) + (n - k) * np.log1p(-share)).sum(axis=1) - PULL * slopes[:, 1] ** 2 / 2
    return slopes, np.asarray(logs)
