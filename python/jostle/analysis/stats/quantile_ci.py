"""Quantiles with intervals from order statistics, which assume nothing about the distribution.

P(X₍l₎ ≤ q_p < X₍u₎) = Σ_{k=l}^{u-1} C(n,k) pᵏ (1-p)ⁿ⁻ᵏ. If u > n, the sample cannot bound the quantile from
above ("≥"). Above the median, quantiles that may well lie beyond the largest value are left out.
Source: David and Nagaraja, Order Statistics, section 7.1; METHOD A.
"""

import math
from collections.abc import Callable

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats import binomial
from jostle.analysis.stats.kaplan_meier import Curve, known_part
from jostle.analysis.stats.sample import Floats, WeightedSample
from jostle.quantiles import LEVELS
from jostle.units import format_share

__all__ = [
    "CONFIDENCE",
    "autocorrelation_time",
    "largest_time",
    "log_variance",
    "order_statistic_ranks",
    "quantile_estimate",
    "quantile_estimates",
    "samples_needed",
]

CONFIDENCE = 0.95

NORMAL = 1.959964
"""Half-width of a 95 % interval in standard deviations."""


def order_statistic_ranks(n: int, p: float, confidence: float = CONFIDENCE) -> tuple[int, int, float]:
    """Ranks l and u (from 1) of the interval for the p-quantile with equal tails, and its coverage.

    l = 0: no lower bound. u = n + 1: no upper bound.
    """
    tail = (1 - confidence) / 2
    low = binomial.quantile(tail, n, p)
    high = binomial.quantile(1 - tail, n, p) + 1
    return low, high, binomial.cdf(high - 1, n, p) - binomial.cdf(low - 1, n, p)


def samples_needed(p: float, confidence: float = CONFIDENCE) -> int:
    """How many samples it takes for the largest to lie beyond the p-quantile with this confidence."""
    return math.ceil(math.log(1 - confidence) / math.log(p))


def autocorrelation_time(exceeds: Floats) -> float:
    """τ = 1 + 2 Σ r_k of the indicator 1{x > q}, in order of time: n/τ is the number of independent samples.

    The sum ends before the first pair r_2k + r_2k+1 that is not positive. At least 1.
    Source: Geyer, Statistical Science 7 (1992), initial positive sequence.
    """
    n = len(exceeds)
    centred = exceeds - exceeds.mean() if n else exceeds
    if n < 8 or not centred.any():
        return 1.0
    spectrum = np.fft.rfft(centred, 2 * n)
    covariance = np.fft.irfft(spectrum * spectrum.conj())[: n // 2]
    rho = covariance / covariance[0]
    pairs = rho[0 : len(rho) // 2 * 2 : 2] + rho[1::2][: len(rho) // 2]
    ends = np.flatnonzero(pairs <= 0)
    kept = pairs[: ends[0]] if len(ends) else pairs
    return max(1.0, float(2 * kept.sum() - 1))


def quantile_estimate(
    sample: WeightedSample, p: float, tau: float = 1.0, confidence: float = CONFIDENCE
) -> Estimate:
    """The p-quantile in seconds with its interval. `tau` is the sample's autocorrelation time."""
    return _estimate(sample, known_part(sample) if len(sample.values_s) else None, p, tau, confidence)


def _estimate(
    sample: WeightedSample, curve: Curve | None, p: float, tau: float, confidence: float
) -> Estimate:
    """`curve`: the known part of the sample; None if it has no times."""
    if curve is None:
        return Estimate(None, n=sample.n, note=_nothing(sample))
    if not len(curve.cdf):
        return Estimate(None, n=sample.n, note="too few were answered, among those that were given up")
    needed = samples_needed(p)
    if p > 0.5 and sample.n / tau < needed:
        return Estimate(None, n=sample.n, note=f"needs at least {math.ceil(needed * tau):,} requests")
    low, high = _interval(curve, p, int(round(curve.effective_n(p, sample.n) / tau, 6)), confidence)
    value = curve.estimate(p, sample.n)
    if value is None:
        limit = float(curve.values_s[-1])
        share = sample.n_censored / sample.n
        note = f"{format_share(share)} of the requests failed, or were given up before they were answered"
        return Estimate(limit, low if low is not None else limit, None, bound="≥", n=sample.n, note=note)
    if low is None:
        return Estimate(value, n=sample.n, note="too few requests for an interval")
    if high is None:
        note = f"an upper bound needs at least {math.ceil(_two_sided(p, confidence) * tau):,} requests"
        return Estimate(low, low, None, bound="≥", n=sample.n, note=note)
    return Estimate(value, low, high, n=sample.n)


def quantile_estimates(
    sample: WeightedSample, tau_at: Callable[[float], float] = lambda _: 1.0, confidence: float = CONFIDENCE
) -> dict[str, Estimate]:
    """All of `LEVELS`, and the largest time that was seen ("≥" if a request failed or was given up after it).

    `tau_at` returns the autocorrelation time of "longer than this".
    """
    curve = known_part(sample) if len(sample.values_s) else None
    estimates = {}
    for name, p in LEVELS.items():
        value = curve.estimate(p, sample.n) if curve else None
        tau = 1.0 if value is None else tau_at(value)
        estimates[name] = _estimate(sample, curve, p, tau, confidence)
    return {**estimates, "max": largest_time(sample)}


def largest_time(sample: WeightedSample) -> Estimate:
    """The largest time that was seen; "≥" if a request failed, or was given up after it."""
    if not len(sample.values_s):
        return Estimate(None, note=_nothing(sample))
    bound = "≥" if sample.never or (sample.censored[-1] and not sample.events[-1]) else ""
    largest = float(sample.values_s[-1])
    return Estimate(largest, low=largest if bound else None, bound="≥" if bound else "", n=sample.n)


def _interval(curve: Curve, p: float, n: int, confidence: float) -> tuple[float | None, float | None]:
    if n < 1:
        return None, None
    low, high, _ = order_statistic_ranks(n, p, confidence)
    return (
        curve.quantile(low / n) if low >= 1 else None,
        curve.quantile(high / n) if high <= n else None,
    )


def log_variance(sample: WeightedSample, p: float) -> float | None:
    """The variance of ln(p-quantile) that comes from there being so few requests; None if it is not known.

    From the interval of 95 %, or from its lower half if the sample cannot bound the quantile from above.
    """
    curve = known_part(sample) if len(sample.values_s) else None
    value = curve.estimate(p, sample.n) if curve is not None and len(curve.cdf) else None
    if curve is None or not value:
        return None
    low, high = _interval(curve, p, int(round(curve.effective_n(p, sample.n), 6)), CONFIDENCE)
    if not low:
        return None
    reach = math.log(value / low) if high is None else math.log(high / low) / 2
    return (reach / NORMAL) ** 2


def _two_sided(p: float, confidence: float) -> int:
    """How many samples it takes for the interval to have an upper end."""
    return math.ceil(math.log((1 - confidence) / 2) / math.log(p))


def _nothing(sample: WeightedSample) -> str:
    """Why there are no times."""
    return "nothing was answered as expected" if sample.n else "nothing was measured"
