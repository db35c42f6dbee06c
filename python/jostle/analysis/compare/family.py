"""What the comparisons of all contestants with the first one share under one workload."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from jostle.analysis.compare.side import Side
from jostle.analysis.stats.many_to_one import Pooled, pooled
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sequential import Level, fixed
from jostle.quantiles import LEVELS

__all__ = ["ALONE", "Family", "family_of"]


@dataclass(frozen=True)
class Family:
    """How many contestants are compared with the first, and the error that they share in a quantity, if any.

    `level`: the correction for repeated looks.
    """

    others: int = 1
    errors: Mapping[str, Pooled] = field(default_factory=dict)
    level: Level = fixed

    def confidence(self, rounds: int) -> float:
        """The confidence of an interval over this number of rounds."""
        return self.level(CONFIDENCE, rounds)

    def repeated(self, p: float, rounds: int) -> float:
        """A p-value that holds under repeated looks: at most 5 % if the interval excludes equality."""
        return min(1.0, p * (1 - CONFIDENCE) / (1 - self.confidence(rounds)))


ALONE = Family()
"""The comparison of two contestants only."""


def family_of(sides: Sequence[Side], level: Level = fixed) -> Family:
    """The family of the first and all others. Errors are pooled only if all have the same rounds."""
    others = max(1, len(sides) - 1)
    if len({tuple(r.number for r in side.rounds) for side in sides}) != 1:
        return Family(others, level=level)
    found = {}
    for quantity in ("throughput", *LEVELS):
        rows = [side.values(quantity) for side in sides]
        if all(isinstance(v, float) and v > 0 for row in rows for v in row):
            error = pooled(np.array([[math.log(float(v)) for v in row] for row in rows]))  # type: ignore[arg-type]
            if error is not None:
                found[quantity] = error
    return Family(others, found, level)
