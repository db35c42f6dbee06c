"""Kaplan-Meier: the distribution of times of which some are only known to exceed a value.

Timeouts, requests unfinished at the stop and requests never sent are right-censored response times. If a
share f of them lies beyond all others, quantiles above 1 - f cannot be known: they are "≥ limit". Requests
that failed never got their response: they lie beyond every time, and the distribution function ends below 1.
Source: Kaplan and Meier, JASA 53 (1958); for failures, the cumulative incidence of Aalen and Johansen,
Scandinavian Journal of Statistics 5 (1978). The weighted form on counts equals `scipy.stats.ecdf` on values.
"""

import math
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.sample import Floats, Ints, WeightedSample

__all__ = ["Curve", "known_part", "product_limit", "restricted_mean"]

AT_RISK, STANDS_FOR = 20, 1.5


@dataclass(frozen=True)
class Curve:
    """The estimated distribution function at the sample's values. `cdf[-1]` < 1 if the end is censored."""

    values_s: Floats
    cdf: Floats
    variance_sum: Floats  # Greenwood's sum of d / (n (n - d)) up to each value

    def quantile(self, p: float) -> float | None:
        """The smallest value at which the distribution function is at least p; None if it never is."""
        index = int(np.searchsorted(self.cdf, p - 1e-12))
        return float(self.values_s[index]) if index < len(self.cdf) else None

    def estimate(self, p: float, n: int) -> float | None:
        """The p-quantile of the distribution behind the n times; None if the curve does not reach it.

        Halfway between ranks np and np + 1. The value of rank ⌈np⌉ is too low by half a rank on average.
        That is little compared with how one round varies, but the mean of 20 rounds is so precise that its
        interval would miss in 9 %. Source: Hazen, Transactions ASCE 77 (1914); Hyndman and Fan, The American
        Statistician 50 (1996), definition 5.
        """
        position = n * p + 0.5
        rank = math.floor(position + 1e-9)
        below, above = self.quantile(max(rank, 1) / n), self.quantile(min(rank + 1, n) / n)
        share = max(0.0, position - rank)
        if below is None or (above is None and share > 1e-9):
            return None
        return below if above is None else below + (above - below) * share

    @property
    def is_whole(self) -> bool:
        """Whether the curve reaches 1: no request failed, and none was given up after the largest time."""
        return len(self.cdf) > 0 and bool(self.cdf[-1] > 1 - 1e-12)

    def effective_n(self, p: float, n: int) -> float:
        """Size of an uncensored sample that would give F as precisely where it reaches p (or at its end).

        n if nothing is censored. Source: Cutler and Ederer, J. Chronic Diseases 8 (1958), from Greenwood's
        variance.
        """
        index = min(int(np.searchsorted(self.cdf, p - 1e-12)), len(self.cdf) - 1)
        cdf, spread = float(self.cdf[index]), float(self.variance_sum[index])
        if not 0 < cdf < 1 or spread <= 0:
            return float(n)
        return min(float(n), cdf / ((1 - cdf) * spread))


def product_limit(sample: WeightedSample) -> Curve:
    """The curve of a non-empty sample. A time censored at a value counts as at risk there."""
    gone = np.cumsum(sample.events + sample.censored)
    if sample.n_censored == 0:
        cdf = gone / sample.n
    else:
        at_risk = sample.n - gone + sample.events + sample.censored
        cdf = 1 - np.cumprod(1 - sample.events / at_risk)
    return Curve(sample.values_s, cdf, _greenwood(sample, gone))


def known_part(sample: WeightedSample) -> Curve:
    """The curve up to where fewer than `AT_RISK` requests are left, each standing for over `STANDS_FOR`.

    A request also stands for others that were given up before. Beyond that point a handful decides: 6
    responses among 900 requests that were given up had a p99, and if every second request was censored at
    random, the p99 of 1,000 missed in 38 % (simulated).
    """
    curve = product_limit(sample)
    if not sample.censored.any():
        return curve
    gone = np.cumsum(sample.events + sample.censored)
    at_risk = sample.n - gone + sample.events + sample.censored
    before = np.concatenate([[0.0], curve.cdf[:-1]])
    weight = (1 - before) * sample.n / at_risk
    thin = np.flatnonzero((at_risk < AT_RISK) & (weight > STANDS_FOR))
    end = int(thin[0]) if len(thin) else len(curve.cdf)
    return Curve(curve.values_s[:end], curve.cdf[:end], curve.variance_sum[:end])


def restricted_mean(sample: WeightedSample) -> float:
    """The mean (s) of times cut off at the largest one seen: a lower bound unless the curve is whole.

    The sample must contain at least one time. Source: Irwin, Journal of Hygiene 47 (1949).
    """
    cdf = product_limit(sample).cdf
    steps = np.diff(np.concatenate([[0.0], cdf]))
    return float(sample.middles_s @ steps + (1 - cdf[-1]) * sample.middles_s[-1])


def _greenwood(sample: WeightedSample, gone: Ints) -> Floats:
    at_risk = sample.n - gone + sample.events + sample.censored
    left = at_risk - sample.events
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(left > 0, sample.events / (at_risk * left.astype(float)), 0.0)
    return np.asarray(np.cumsum(terms))
