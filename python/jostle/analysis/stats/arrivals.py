"""A test of whether requests were sent as a Poisson process would send them."""

import numpy as np

from jostle.analysis.stats.sample import Floats

__all__ = ["EXPONENTIAL_1_PERCENT", "anderson_darling_exponential"]

EXPONENTIAL_1_PERCENT = 1.959
"""Critical value of the modified statistic for an exponential distribution of unknown mean.
Source: D'Agostino and Stephens, Goodness-of-Fit Techniques (1986), table 4.14."""


def anderson_darling_exponential(gaps: Floats) -> float:
    """A² (1 + 0.6/n) of gaps between sends against the exponential distribution with their mean.

    Source: as above. Gaps of 0 count as the smallest that a clock of 1 ns can see.
    """
    n = len(gaps)
    ordered = np.sort(np.maximum(gaps, 1e-9)) / gaps.mean()
    rank = np.arange(1, n + 1)
    log_below, log_above = np.log(-np.expm1(-ordered)), -ordered
    statistic = -n - float(((2 * rank - 1) * (log_below + log_above[::-1])).sum()) / n
    return statistic * (1 + 0.6 / n)
