"""Whether a series settles. MSER-5 finds how much of its beginning to drop, PELT where its level changes."""

import itertools
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jostle.analysis.stats.sample import Floats

__all__ = ["Trend", "Truncation", "change_points", "level_changes", "mser", "trend", "warm_up_length"]

Trend = Literal["flat", "warm-up", "slowdown", "unsettled"]

MAX_CORRELATED = 0.95
"""Largest correlation of neighbours: with one of nearly 1, the series is a random walk and has no level."""

SURELY = 4.0
"""Standard errors by which neighbouring levels must differ. Two would be far too few, because the places of
the changes were chosen where the levels differ most. With 4, stationary series of 60 and 300 values with a
correlation of up to 0.8 are called something other than flat in at most 7 % (simulated)."""

SMALL = 0.02
"""Levels that differ by no more than this share count as the same."""

MAX_VALUES = 1_000
"""Longer series are averaged into this many values: the time to find levels grows faster than the length."""


@dataclass(frozen=True)
class Truncation:
    """How many `batches` to drop at the beginning. Not `settled` if half of the series was not enough."""

    batches: int
    value: float
    settled: bool


def mser(series: Floats, batch: int = 5) -> Truncation:
    """The d ≤ n/2 that minimises Σ_{i>d} (Y_i - Ȳ_d)² / (n - d)², over means of `batch` values.

    Source: White, Cobb and Spratt, A comparison of five steady-state truncation heuristics (WSC 2000).
    Raises ValueError for fewer than two batches.
    """
    n = len(series) // batch
    if n < 2:
        raise ValueError(f"MSER needs at least two batches of {batch} values, not {len(series)} values")
    means = series[: n * batch].reshape(n, batch).mean(axis=1)
    means -= means.mean()  # so that the difference of sums below loses little precision
    left = np.arange(n, 0, -1)
    sums, squares = (np.cumsum(values[::-1])[::-1] for values in (means, means**2))  # of the batches left
    scores = ((squares - sums**2 / left) / left**2)[: n // 2 + 1]
    best = int(np.argmin(scores))
    return Truncation(best, float(scores[best]), settled=best < n // 2)


def change_points(series: Floats) -> list[int]:
    """Where the mean changes: the first index of every segment but the first.

    Minimises the sum of squares plus 3 σ̂² ln n for each change. σ̂ comes from the differences of neighbours,
    which a few changes hardly affect: median absolute difference / (0.6745 √2).
    Source: Killick, Fearnhead and Eckley, JASA 107 (2012), PELT; penalty: METHOD A.
    """
    n = len(series)
    if n < 4:
        return []
    sigma = float(np.median(np.abs(np.diff(series)))) / (0.6745 * np.sqrt(2))
    penalty = 3 * max(sigma, 1e-9 * float(np.abs(series).max())) ** 2 * np.log(n)
    sums = np.concatenate([[0.0], np.cumsum(series)])
    squares = np.concatenate([[0.0], np.cumsum(series**2)])
    best = np.full(n + 1, -penalty)
    last = np.zeros(n + 1, dtype=np.int64)
    starts = np.array([0])
    for end in range(1, n + 1):
        length = end - starts
        cost = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / length
        totals = best[starts] + cost
        first = int(np.argmin(totals))
        best[end], last[end] = totals[first] + penalty, starts[first]
        starts = np.append(starts[totals <= best[end]], end)
    found = []
    end = int(last[n])
    while end > 0:
        found.append(end)
        end = int(last[end])
    return found[::-1]


def level_changes(series: Floats) -> list[int]:
    """Where the level changes in a series of at least four values whose neighbours are correlated.

    Neighbours that resemble one another look like levels. So changes are looked for in the series without its
    correlation, y[i] - rho y[i-1], with rho from medians, which changes hardly affect. Of these, only the
    changes that correlated noise does not explain are kept. Source: Chakar, Lebarbier, Lévy-Leduc and Robin,
    Bernoulli 23 (2017), AR1seg.
    """
    rho = correlation_of_neighbours(series)
    found: list[int] = []
    for place in change_points(series[1:] - rho * series[:-1]):
        if not found or place + 1 - found[-1] > 1:  # one jump leaves two adjacent traces
            found.append(place + 1)
    while found:
        weakest, errors = _weakest(series, found, rho)
        if errors >= SURELY:
            break
        found.pop(weakest)
    return found


def correlation_of_neighbours(series: Floats) -> float:
    """rho of a first-order autoregression with level changes, from 0 to `MAX_CORRELATED`.

    The series must have at least three values.
    """
    one, two = (float(np.median(np.abs(series[lag:] - series[:-lag]))) for lag in (1, 2))
    return min(MAX_CORRELATED, max(0.0, (two / one) ** 2 - 1)) if one else 0.0


def _weakest(series: Floats, places: list[int], rho: float) -> tuple[int, float]:
    """The index of the least certain change, and its size in standard errors."""
    edges = [0, *places, len(series)]
    parts = [series[a:b] for a, b in itertools.pairwise(edges)]
    rest = np.concatenate([part - part.mean() for part in parts])
    n, squares = len(series), float(rest @ rest)
    if squares == 0:
        return 0, np.inf
    seen = max(0.0, float(rest[1:] @ rest[:-1]) / squares)
    rho = min(
        MAX_CORRELATED, max(rho, seen + (1 + 3 * seen) * len(parts) / n)
    )  # each fitted mean lowers the correlation that is seen
    variance = squares / max(1, n - len(parts)) * (1 + rho) / (1 - rho)
    errors = [
        abs(float(b.mean() - a.mean())) / np.sqrt(variance * (1 / len(a) + 1 / len(b)))
        for a, b in itertools.pairwise(parts)
    ]
    weakest = int(np.argmin(errors))
    return weakest, errors[weakest]


def trend(series: Floats) -> Trend:
    """The course of a series: "flat", "warm-up" (then shorter times), "slowdown" (longer), or "unsettled".

    The last level must cover at least a quarter of the series; otherwise there is no steady state. Levels
    within `SMALL` of the last one count as the same. Source: Barrett et al., Virtual Machine Warmup Blows Hot
    and Cold (OOPSLA 2017).
    """
    return _course(series)[0]


def warm_up_length(series: Floats) -> int:
    """How many values at the beginning of a series are those of a warm-up; 0 if it has none."""
    found, settled = _course(series)
    return settled if found == "warm-up" else 0


def _course(series: Floats) -> tuple[Trend, int]:
    """The course, and how many values come before the last level."""
    whole, parts = len(series), [series]
    if whole > MAX_VALUES:
        parts = np.array_split(series, MAX_VALUES)
        series = np.array([part.mean() for part in parts])
    edges = [0, *level_changes(series), len(series)]
    levels = [float(np.mean(series[a:b])) for a, b in itertools.pairwise(edges)]
    final = levels[-1]
    same = [abs(level - final) <= SMALL * abs(final) for level in levels]
    settled = len(same) - next((i for i, s in enumerate(reversed(same)) if not s), len(same))
    before = edges[settled] if whole <= MAX_VALUES else sum(map(len, parts[: edges[settled]]))
    if settled == 0:
        return "flat", 0
    if len(series) - edges[settled] < len(series) / 4:
        return "unsettled", before
    return ("warm-up" if levels[settled - 1] > final else "slowdown"), before
