"""One p-value of several that depend on one another in an unknown way, as quantiles of the same requests do.

Each p-value becomes a Cauchy variate, whose tail is so heavy that the tail of a mean of dependent ones is
that of a single one. So evidence that is spread over many metrics adds up, and a metric beside which others
say nothing still counts. What is as likely as not, or less, counts as no evidence, instead of as evidence
against the rest: a shorter p50 must not hide a longer p99.

Source: Liu and Xie, JASA 115 (2020); Fang, Chang, Park and Tseng, Statistica Sinica 33 (2023), for the
truncation; Marcus, Peritz and Gabriel, Biometrika 63 (1976), for closed testing.
"""

import math
from collections.abc import Sequence

__all__ = ["combined", "each_adjusted"]

NO_EVIDENCE, MIN_P = 0.5, 1e-15


def combined(ps: Sequence[float]) -> float:
    """The chance of so much evidence in all of these together if there is nothing in any. At least one p."""
    return _tail(sum(map(_evidence, ps)) / len(ps))


def each_adjusted(ps: Sequence[float]) -> list[float]:
    """The p-value of each, adjusted so that the chance of calling any of them wrongly is that of `combined`.

    The largest combined p-value of all sets that it belongs to: with m - 1 others, those of the least
    evidence.
    """
    evidence = [_evidence(p) for p in ps]
    found = []
    for at, own in enumerate(evidence):
        smallest, total = own, own
        for number, other in enumerate(sorted(evidence[:at] + evidence[at + 1 :]), 2):
            total += other
            smallest = min(smallest, total / number)
        found.append(_tail(smallest))
    return found


def _evidence(p: float) -> float:
    return math.tan((0.5 - min(max(p, MIN_P), NO_EVIDENCE)) * math.pi)


def _tail(evidence: float) -> float:
    return math.atan2(1.0, evidence) / math.pi
