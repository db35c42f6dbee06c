"""The shape of a set of times: density on a log axis, quantile axis, letter values; all times if few."""

import math

import numpy as np

from jostle.analysis.results import Distribution
from jostle.analysis.stats.enough import REQUESTS_FOR_A_SHAPE
from jostle.analysis.stats.isj import isj_bandwidth
from jostle.analysis.stats.kaplan_meier import product_limit
from jostle.analysis.stats.sample import Floats, Ints, WeightedSample

__all__ = [
    "describe",
    "kernel_density",
    "letter_values",
    "log_density",
    "silverman_bandwidth",
]

GRID = 256
"""Points of a density or a quantile curve: as many as a picture can show."""


def describe(sample: WeightedSample, *, shape: bool = True) -> Distribution:
    """Everything that can be drawn of a sample; without `shape`, only its size, mean and ends.

    Density, letter values and rug show only the times that were not censored. The quantile axis also takes
    account of the censored ones, and ends where they make the rest unknown.
    """
    seen = sample.only_events()
    if seen.n == 0:
        return Distribution(0, None, None, None)
    ends = (seen.n, seen.mean_s, float(seen.middles_s[0]), float(seen.values_s[-1]))
    if not shape:
        return Distribution(*ends)
    p, quantiles = _quantile_axis(sample)
    depth, low, high = letter_values(seen)
    few = seen.n < REQUESTS_FOR_A_SHAPE
    x, density = ([], []) if few else log_density(seen)
    return Distribution(
        *ends,
        density_x_s=x,
        density=density,
        quantile_p=p,
        quantile_s=quantiles,
        letter_depth=depth,
        letter_low_s=low,
        letter_high_s=high,
        values_s=np.repeat(seen.middles_s, seen.events).tolist() if few else [],
    )


def log_density(sample: WeightedSample) -> tuple[list[float], list[float]]:
    """Density per e-fold of time, on log-spaced seconds from the smallest to the largest.

    Gaussian kernels on ln x with the bandwidth of ISJ (or Silverman's if ISJ finds none), reflected at the
    smallest value and cut at the largest. The bandwidth is never smaller than the width of the recorded
    slots, nor than the grid can show.
    Source: f_X(x) = f_Y(ln x)/x; METHOD A, KDE.
    """
    middles = sample.middles_s
    logs, weights = np.log(middles), sample.events / sample.n
    span = float(logs[-1] - logs[0])
    slot = 2 * (sample.values_s - middles) / middles + 1e-6 / middles  # width of each value's slot, in ln
    finest = float(np.average(slot, weights=weights))
    if span <= 2 * finest:  # all values lie within the resolution of the record
        return [float(middles[0]), float(middles[-1])], []
    bandwidth = isj_bandwidth(logs, sample.events)
    if math.isnan(bandwidth):
        bandwidth = silverman_bandwidth(logs, sample.events)
    bandwidth = max(bandwidth, finest, span / GRID)
    grid = np.linspace(logs[0], logs[-1], GRID)
    density = kernel_density(logs, weights, bandwidth, grid)
    density += kernel_density(logs, weights, bandwidth, 2 * logs[0] - grid)
    return np.exp(grid).tolist(), density.tolist()


def kernel_density(points: Floats, weights: Floats, bandwidth: float, grid: Floats) -> Floats:
    """Σ w_i φ((x - x_i)/h)/h at each x of the grid, with Σ w_i = 1."""
    density = np.zeros(len(grid))
    for start in range(0, len(points), 4096):  # bounds the size of the table of distances
        part = slice(start, start + 4096)
        distance = (grid[:, None] - points[None, part]) / bandwidth
        density += np.exp(-0.5 * distance**2) @ weights[part]
    return density / (bandwidth * math.sqrt(2 * math.pi))


def silverman_bandwidth(points: Floats, counts: Ints) -> float:
    """0.9 min(s, IQR/1.34) n^(-1/5) of ascending points. Source: Silverman (1986), R's `bw.nrd0`."""
    n = int(counts.sum())
    mean = counts @ points / n
    deviation = math.sqrt(counts @ (points - mean) ** 2 / (n - 1))
    ranks = np.cumsum(counts)

    def quantile(q: float) -> float:
        below = math.floor(position := (n - 1) * q)
        low, high = (float(points[np.searchsorted(ranks, r + 1)]) for r in (below, math.ceil(position)))
        return low + (position - below) * (high - low)

    spread = min(deviation, (quantile(0.75) - quantile(0.25)) / 1.34) or deviation
    return float(0.9 * spread * n**-0.2)


def letter_values(sample: WeightedSample) -> tuple[list[int], list[float], list[float]]:
    """Depth 1 (median), 2 (fourths), …, with the lower and the upper value of each.

    Only as deep as the values beyond can be told from chance. Source: Hofmann, Wickham and Kafadar,
    Letter-Value Plots, JCGS 26 (2017): d₁ = (n+1)/2, d_{i+1} = (1+⌊d_i⌋)/2, ⌊log₂ n - log₂ 2z²⌋ + 1 letters.
    """
    n = sample.n
    count = max(1, math.floor(math.log2(n) - math.log2(2 * 1.959964**2)) + 1)
    ranks = np.cumsum(sample.events)
    depth = (n + 1) / 2
    low, high = [], []
    for _ in range(count):
        low.append(_at_depth(sample, ranks, depth))
        high.append(_at_depth(sample, ranks, n + 1 - depth))
        depth = (1 + math.floor(depth)) / 2
    return list(range(1, count + 1)), low, high


def _at_depth(sample: WeightedSample, ranks: Ints, depth: float) -> float:
    """The value of rank `depth` from below; a half rank is the mean of its neighbours."""
    below, above = (np.searchsorted(ranks, rank) for rank in (math.floor(depth), math.ceil(depth)))
    return float(sample.middles_s[below] + sample.middles_s[above]) / 2


def _quantile_axis(sample: WeightedSample) -> tuple[list[float], list[float]]:
    """Quantiles at p = 0 … 1 - 1/n, evenly spaced in nines."""
    curve = product_limit(sample)
    nines = np.linspace(0, math.log10(sample.n), min(GRID, max(2, sample.n)))
    probabilities = [float(p) for p in 1 - 10.0**-nines]
    pairs = [(p, value) for p in probabilities if (value := curve.quantile(max(p, 1e-9))) is not None]
    return [p for p, _ in pairs], [value for _, value in pairs]
