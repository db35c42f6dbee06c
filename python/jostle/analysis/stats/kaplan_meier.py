"""Kaplan-Meier: the distribution of times of which some were only seen to be longer than something.

Timeouts, requests unfinished at the stop and requests never sent are right-censored response times. With a
share f of them beyond all others, quantiles above 1 - f cannot be known: they are "≥ limit". Requests that
failed never got their answer: they lie beyond every time, and the distribution function ends below 1.
Source: Kaplan and Meier, JASA 53 (1958); for failures, the cumulative incidence of Aalen and Johansen,
Scandinavian Journal of Statistics 5 (1978). The weighted form on counts equals `scipy.stats.ecdf` on values.
"""

from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.sample import Floats, Ints, WeightedSample

__all__ = ["Curve", "product_limit"]


@dataclass(frozen=True)
class Curve:
    """The estimated distribution function at the sample's values. `cdf[-1]` < 1 where the end is censored."""

    values_s: Floats
    cdf: Floats
    variance_sum: Floats  # Greenwood's sum of d / (n (n - d)) up to each value

    def quantile(self, p: float) -> float | None:
        """The smallest value with a distribution function of at least p; None where it does not get there."""
        index = int(np.searchsorted(self.cdf, p - 1e-12))
        return float(self.values_s[index]) if index < len(self.cdf) else None

    def effective_n(self, p: float, n: int) -> float:
        """Size of the uncensored sample that would know F as well where it reaches p (at its end, if never).

        n where nothing is censored. Source: Cutler and Ederer, J. Chronic Diseases 8 (1958), from Greenwood's
        variance.
        """
        index = min(int(np.searchsorted(self.cdf, p - 1e-12)), len(self.cdf) - 1)
        cdf, spread = float(self.cdf[index]), float(self.variance_sum[index])
        if not 0 < cdf < 1 or spread <= 0:
            return float(n)
        return min(float(n), cdf / ((1 - cdf) * spread))


def product_limit(sample: WeightedSample) -> Curve:
    """The curve of a sample that is not empty. A time censored at a value counts as at risk there."""
    gone = np.cumsum(sample.events + sample.censored)
    if sample.n_censored == 0:
        cdf = gone / sample.n
    else:
        at_risk = sample.n - gone + sample.events + sample.censored
        cdf = 1 - np.cumprod(1 - sample.events / at_risk)
    return Curve(sample.values_s, cdf, _greenwood(sample, gone))


def _greenwood(sample: WeightedSample, gone: Ints) -> Floats:
    at_risk = sample.n - gone + sample.events + sample.censored
    left = at_risk - sample.events
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(left > 0, sample.events / (at_risk * left.astype(float)), 0.0)
    return np.asarray(np.cumsum(terms))
