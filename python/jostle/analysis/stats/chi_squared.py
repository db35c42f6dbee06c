"""The chi-squared distribution."""

import math
from functools import lru_cache

from jostle.analysis.stats import gamma
from jostle.analysis.stats.root import positive_root
from jostle.analysis.stats.sample import Floats

__all__ = ["upper_quantile"]


@lru_cache(maxsize=512)
def upper_quantile(df: float, p: float) -> float:
    """The x with P(X > x) = `p`, for 0 < p < 1 and `df` > 0 degrees of freedom."""
    if p < 0.5:
        return 2 * positive_root(lambda x: _log(gamma.upper(df / 2, x)) - math.log(p))
    return 2 * positive_root(lambda x: math.log(1 - p) - _log(gamma.lower(df / 2, x)))


def _log(mass: Floats) -> float:
    return math.log(mass) if mass else -math.inf
