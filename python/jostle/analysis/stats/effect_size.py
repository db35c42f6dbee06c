"""How much longer one server takes than another, over all requests and not at one quantile: Cliff's delta.

Source: Cliff, Psychological Bulletin 114 (1993).
"""

from collections.abc import Sequence

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats.bootstrap import aligned, how_often, widened
from jostle.analysis.stats.enough import MIN_ROUNDS, TOO_FEW_ROUNDS
from jostle.analysis.stats.sample import Floats, Ints, WeightedSample

__all__ = ["cliffs_delta"]


def cliffs_delta(
    a: Sequence[WeightedSample], b: Sequence[WeightedSample], chosen: tuple[Ints, Ints]
) -> Estimate:
    """P(B > A) - P(B < A) over all pairs of requests, with an interval by resampling rounds.

    `a` and `b` hold one sample per round, `chosen` the resampled rounds of each. A pair whose order is hidden
    by a censored time counts as neither. Source: Gehan, Biometrika 52 (1965).
    """
    pairs = np.outer([float(x.n) for x in a], [float(y.n) for y in b])
    n = min(len(a), len(b))
    if not pairs.size or pairs.sum() == 0:
        return Estimate(None, unit="", n=n, note="nothing to compare")
    wins = _wins(a, b)
    value = float(wins.sum() / pairs.sum())
    if n < MIN_ROUNDS:
        return Estimate(value, unit="", n=n, note=TOO_FEW_ROUNDS)
    left, right = (how_often(c, len(rounds)) for c, rounds in zip(chosen, (a, b), strict=True))

    def summed(table: Floats) -> Floats:
        return np.asarray(np.einsum("ki,ij,kj->k", left, table, right))

    total = summed(pairs)
    replicates = np.where(total > 0, summed(wins) / np.maximum(total, 1), 0.0)
    low, high = widened(value, replicates, n)
    return Estimate(value, max(-1.0, low), min(1.0, high), "", n=n)


def _wins(a: Sequence[WeightedSample], b: Sequence[WeightedSample]) -> Floats:
    """For each two rounds: the pairs in which b surely takes longer, minus those in which a does."""
    values = np.unique(np.concatenate([sample.values_s for sample in (*a, *b)]))
    return _surely_longer(b, a, values).T - _surely_longer(a, b, values)


def _surely_longer(
    longer: Sequence[WeightedSample], shorter: Sequence[WeightedSample], values: Floats
) -> Floats:
    """Number of pairs in which the first surely took longer.

    It ended or was given up later than the other one ended, or it failed.
    """
    ended = aligned(shorter, "events", values)
    until = np.cumsum(ended, axis=1)
    found: Floats = aligned(longer, "events", values) @ (until - ended).T
    found += aligned(longer, "censored", values) @ until.T
    return found + np.outer([x.never for x in longer], ended.sum(axis=1))
