"""Whether things of several kinds are mixed alike: in two samples, or throughout a series."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.sample import Floats, Ints

__all__ = ["Stretch", "apart", "unlike_the_rest"]

DIFFERENCE = 0.05
"""Shares that differ by less than this do not matter, however many were counted."""

FALSE_ALARMS = 0.001
"""How often samples of the same mixture may be called different, whatever number of them is looked at."""

BINS = 200
"""Most parts into which a series is divided before its stretches are compared."""

MEDIAN_OF_CHI_SQUARED = 0.455
"""The median of χ² with one degree of freedom."""


@dataclass(frozen=True)
class Stretch:
    """A part of a series, from one of its places up to another, in which the mixture is another."""

    start: int
    end: int
    evidence: float


def apart(one: Mapping[str, int], other: Mapping[str, int], pairs: int = 1) -> bool:
    """Whether some kind has another share in one sample than in the other. Empty samples are like any.

    `pairs`: how many pairs of samples are compared, any of which may differ by chance.
    """
    n, m = sum(one.values()), sum(other.values())
    if not n or not m:
        return False
    kinds = one.keys() | other.keys()
    for kind in kinds:
        x, y = one.get(kind, 0), other.get(kind, 0)
        evidence = _g(np.array([x]), np.array([n]), np.array([y]), np.array([m]))[0]
        if abs(x / n - y / m) >= DIFFERENCE and not _is_chance(float(evidence), len(kinds) * pairs):
            return True
    return False


def unlike_the_rest(kinds: Iterable[Ints], series: int = 1) -> Stretch | None:
    """The stretch of a series whose mixture differs most from that of the rest; None if the series is even.

    `kinds`: how many there were of each kind, place by place. `series`: how many series are looked at, any of
    which may seem uneven by chance. The likelihood ratio (G²) of all stretches is compared with its
    distribution in an even series, where neighbours may be alike: by how much they are is seen in how little
    they differ.
    """
    counts = list(kinds)
    if len(counts) < 2 or not np.any(counts):
        return None
    edges = np.unique(np.linspace(0, len(counts[0]), min(BINS, len(counts[0])) + 1).astype(np.int64))
    binned = [np.add.reduceat(one, edges[:-1]) for one in counts]
    totals = np.sum(binned, axis=0)
    looked_at = len(counts) * series
    found = [stretch for one in binned if (stretch := _of_kind(one, totals, looked_at)) is not None]
    best = max(found, key=lambda stretch: stretch.evidence, default=None)
    return None if best is None else Stretch(int(edges[best.start]), int(edges[best.end]), best.evidence)


def _of_kind(counts: Ints, totals: Ints, looked_at: int) -> Stretch | None:
    """The stretch with the most evidence that this kind has another share there than in the rest.

    `looked_at`: how many kinds are, this one among them.
    """
    x, n = _running(counts), _running(totals)
    starts, ends = np.triu_indices(len(n), 1)
    inside, of = x[ends] - x[starts], n[ends] - n[starts]
    outside, of_rest = x[-1] - inside, n[-1] - of
    with np.errstate(invalid="ignore", divide="ignore"):
        differ = np.abs(inside / of - outside / of_rest) >= DIFFERENCE  # False where either has none
    evidence = np.where(differ, _g(inside, of, outside, of_rest), 0.0) / _clustered(counts, totals)
    best = int(np.argmax(evidence))
    if _is_chance(float(evidence[best]), len(starts) * looked_at):
        return None
    return Stretch(int(starts[best]), int(ends[best]), float(evidence[best]))


def _running(counts: Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(counts)])


def _clustered(counts: Ints, totals: Ints) -> float:
    """By how many times the shares of neighbours vary more than those of independent things would.

    The median of what they vary by, without the two largest: a stretch has two ends.
    """
    non_empty = totals > 0
    counts, totals = counts[non_empty], totals[non_empty]
    share = counts.sum() / totals.sum()
    expected = share * (1 - share) * (1 / totals[1:] + 1 / totals[:-1])
    if len(expected) < 3 or not np.all(expected > 0):
        return 1.0
    varied = np.sort(np.diff(counts / totals) ** 2 / expected)
    return max(1.0, float(np.median(varied[:-2])) / MEDIAN_OF_CHI_SQUARED)


def _g(x: Ints, n: Ints, y: Ints, m: Ints) -> Floats:
    """G² of x out of n against y out of m, element by element: χ² with one degree of freedom if alike."""
    share = (x + y) / np.maximum(1, n + m)
    parts = [_term(x, n * share), _term(n - x, n * (1 - share)), _term(y, m * share)]
    return np.asarray(2 * sum([*parts, _term(m - y, m * (1 - share))]))


def _term(seen: Ints, expected: Floats) -> Floats:
    return np.asarray(seen * np.log(np.maximum(seen, 1) / np.where(seen > 0, expected, 1)))


def _is_chance(evidence: float, looked_at: int) -> bool:
    """Whether χ² with one degree of freedom may be so large, if so many were looked at (Bonferroni)."""
    return math.erfc(math.sqrt(evidence / 2)) * looked_at >= FALSE_ALARMS
