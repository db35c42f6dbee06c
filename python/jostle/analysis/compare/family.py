"""What the comparisons of all contestants with the first one share under one workload."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from jostle.analysis.compare.side import Side
from jostle.analysis.stats.many_to_one import Pooled, pooled
from jostle.analysis.stats.moderated import TYPICAL_SD, Spread, Usual, UsualOf, fitted, not_known, typical
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sample import Floats
from jostle.analysis.stats.sequential import ConfidenceRule, fixed
from jostle.quantiles import COMPARED

__all__ = ["ALONE", "ComparisonFamily", "family_of", "usual_differences", "within"]


@dataclass(frozen=True)
class ComparisonFamily:
    """How many contestants are compared with the first, and the error that they share in a metric, if any."""

    others: int = 1
    errors: Mapping[str, Pooled] = field(default_factory=dict)
    confidence_rule: ConfidenceRule = fixed
    """The correction for repeated looks."""
    usual: UsualOf = not_known
    """The spread that differences usually have."""

    def confidence(self, rounds: int) -> float:
        """The confidence of an interval over this number of rounds."""
        return self.confidence_rule(CONFIDENCE, rounds)

    def repeated(self, p: float, rounds: int) -> float:
        """A p-value that holds under repeated looks: at most 5 % if the interval excludes equality."""
        return min(1.0, p * (1 - CONFIDENCE) / (1 - self.confidence(rounds)))


ALONE = ComparisonFamily()
"""The comparison of two contestants only."""


def family_of(
    sides: Sequence[Side], confidence_rule: ConfidenceRule = fixed, usual: UsualOf = not_known
) -> ComparisonFamily:
    """The family of the first and all others. Errors are pooled only if all have the same rounds."""
    others = max(1, len(sides) - 1)
    if len({tuple(r.number for r in side.rounds) for side in sides}) != 1:
        return ComparisonFamily(others, confidence_rule=confidence_rule, usual=usual)
    found = {}
    for metric in ("throughput", *COMPARED):
        rows = [side.values(metric) for side in sides]
        if all(isinstance(v, float) and v > 0 for row in rows for v in row):
            error = pooled(np.array([[math.log(float(v)) for v in row] for row in rows]))  # type: ignore[arg-type]
            if error is not None:
                found[metric] = error
    return ComparisonFamily(others, found, confidence_rule, usual)


def usual_differences(pairs: Sequence[tuple[Side, Side]]) -> UsualOf:
    """The spread over rounds that the difference of two contestants' ln(value) usually has on a page.

    That of all `pairs` of the page, or the recorded one if there is only one. Both sides vary by themselves,
    so their variances add; what a round does to both cancels.
    """

    @cache
    def usual(metric: str) -> Usual | None:
        sd = TYPICAL_SD.get(metric)
        if sd is None:
            return None
        sd *= math.sqrt(2)
        found = []
        for a, b in pairs:
            differences = log_ratios(a, b, metric)
            if differences is not None and len(differences) > 1:
                expected = typical(sd, within(a, b, metric))
                found.append(Spread.of(differences).times(1 / expected.variance))
        return Usual(sd, fitted(found))

    return usual


def within(a: Side, b: Side, metric: str) -> float:
    """The variance of the difference of ln(value) in a round that few requests explain."""
    return a.within(metric) + b.within(metric)


def log_ratios(a: Side, b: Side, metric: str) -> Floats | None:
    """ln(b/a) round by round, of paired sides; None unless all values are known and above 0."""
    values = [[v for v in side.values(metric) if isinstance(v, float) and v > 0] for side in (a, b)]
    if len(values[0]) != len(a.rounds) or len(values[1]) != len(a.rounds):
        return None
    return np.asarray(np.log(values[1]) - np.log(values[0]))
