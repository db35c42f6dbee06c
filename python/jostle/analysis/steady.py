"""Does a series settle? MSER-5 finds how much of its beginning to leave out."""

from dataclasses import dataclass

import numpy as np

from jostle.analysis.histograms import Floats

__all__ = ["Truncation", "mser"]


@dataclass(frozen=True)
class Truncation:
    """`batches` at the beginning are to be left out. Not `settled`: half of the series was not enough."""

    batches: int
    value: float
    settled: bool


def mser(series: Floats, batch: int = 5) -> Truncation:
    """The d of d ≤ n/2 that makes Σ_{i>d} (Y_i - Ȳ_d)² / (n - d)² least, over means of `batch` values.

    Source: White, Cobb and Spratt, A comparison of five steady-state truncation heuristics (WSC 2000).
    Raises ValueError for fewer than two batches.
    """
    n = len(series) // batch
    if n < 2:
        raise ValueError(f"MSER needs at least two batches of {batch} values, not {len(series)} values")
    means = series[: n * batch].reshape(n, batch).mean(axis=1)
    scores = [float(((means[d:] - means[d:].mean()) ** 2).sum() / (n - d) ** 2) for d in range(n // 2 + 1)]
    best = int(np.argmin(scores))
    return Truncation(best, scores[best], settled=best < n // 2)
