"""The contestants that are compared with the first one under a workload: what their comparisons share."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from jostle.analysis.compare.side import Side
from jostle.analysis.stats.many_to_one import Pooled, pooled
from jostle.analysis.stats.quantile_ci import LEVELS

__all__ = ["ALONE", "Family", "family_of"]


@dataclass(frozen=True)
class Family:
    """How many are compared with the first, and the error that they share, by quantity where there is one."""

    others: int = 1
    errors: Mapping[str, Pooled] = field(default_factory=dict)


ALONE = Family()
"""Two contestants, and no more."""


def family_of(sides: Sequence[Side]) -> Family:
    """Of the first and all others. An error is pooled only where all were measured in the same rounds."""
    others = max(1, len(sides) - 1)
    if len({tuple(r.number for r in side.rounds) for side in sides}) != 1:
        return Family(others)
    found = {}
    for quantity in ("throughput", *LEVELS):
        rows = [side.values(quantity) for side in sides]
        if all(isinstance(v, float) and v > 0 for row in rows for v in row):
            error = pooled(np.array([[math.log(float(v)) for v in row] for row in rows]))  # type: ignore[arg-type]
            if error is not None:
                found[quantity] = error
    return Family(others, found)
