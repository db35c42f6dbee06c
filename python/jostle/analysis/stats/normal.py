"""The standard normal distribution."""

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from jostle.analysis.stats.sample import Floats

__all__ = ["cdf", "quantile"]

_erfc = np.frompyfunc(math.erfc, 1, 1)


def cdf(x: npt.ArrayLike) -> Floats:
    """P(X ≤ x) for every `x`, without cancellation in either tail."""
    return np.asarray(_erfc(np.negative(x) / math.sqrt(2)), dtype=np.float64) / 2


def quantile(p: float) -> float:
    """The x with P(X ≤ x) = `p`, for 0 < p < 1. Source: Wichura's AS 241, Applied Statistics 37 (1988)."""
    return NormalDist().inv_cdf(p)
