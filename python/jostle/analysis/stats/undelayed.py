"""How short a quantile may have been before times grew.

If times grew by d on average, in whatever way, and none became shorter, then a p-quantile that is x now was
at least y before, where y is the largest value with ∫ (F⁻¹(u) - y)⁺ du ≥ d over u < p: to bring a share p of
the times below y, all that lie above it must have grown by what they are beyond it, and the cheapest way is
to take those that lie just above it. It is the lowest quantile in a Wasserstein ball of radius d.

Source: Vallender, Theory of Probability and its Applications 18 (1974): the distance is the area between the
quantile functions.
"""

import numpy as np

from jostle.analysis.stats.kaplan_meier import Curve

__all__ = ["quantile_before"]


def quantile_before(curve: Curve, p: float, grew_s: float) -> float:
    """The least p-quantile before times grew by `grew_s` on average. `curve`: reaches p.

    For each k, the k longest of the times up to the quantile bound it: Σ w (v - y) ≤ d. The largest such
    bound is sharp, since adding times below y only lowers the sum.
    """
    whole = int(np.searchsorted(curve.cdf, p - 1e-9)) + 1
    upto = np.minimum(curve.cdf[:whole], p)
    weights = np.diff(upto, prepend=0.0)[::-1]
    values = curve.values_s[:whole][::-1]
    shares, sums = np.cumsum(weights), np.cumsum(weights * values)
    there = shares > 0
    return max(0.0, float(((sums[there] - grew_s) / shares[there]).max()))
