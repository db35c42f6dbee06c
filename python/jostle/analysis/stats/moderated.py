"""How much figures vary from round to round, learned from more than the few rounds of one cell.

Three rounds tell their own spread so badly that Student's quantile is 4.3. What is usual elsewhere tells more
about it: the cells of a run (contestants × workloads) vary alike, more or less, and so did the rounds of
earlier experiments. The variance of each cell is therefore a mean of its own and of the usual one, weighted
by degrees of freedom, and Student's quantile has the degrees of freedom of both (moderated t).

A cell that is unlike the others must keep its own variance. The usual one counts only with the weight p³,
where p is the two-sided probability of a variance as far from the usual one as that of the cell. Then no
cell pays much for its neighbours: with three rounds and the recorded spread, intervals of 95 % hold in 92 %
or more however wild it is (simulated: docs/explanation/how-often-right.md); without the weight, in 84 %.

Sources: Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004), article 3; the smaller
weight where a variance stands out: Phipson, Lee, Majewski, Alexander and Smyth, Annals of Applied Statistics
10 (2016).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from jostle.analysis.stats import beta, gamma
from jostle.analysis.stats.polygamma import digamma, tetragamma, trigamma
from jostle.analysis.stats.sample import Floats

__all__ = [
    "MAX_DF",
    "RESOLUTION",
    "TYPICAL_DF",
    "TYPICAL_SD",
    "Spread",
    "Usual",
    "UsualOf",
    "fitted",
    "moderated",
    "not_known",
    "spread_of",
    "typical",
    "typical_ratio",
]

RESOLUTION = 5e-4
"""Histograms keep three digits, so rounds are taken to differ by at least half a unit of the last one."""

_CENTRE, _CPU, _UPPER, _TAIL = 0.04, 0.055, 0.07, 0.11

TYPICAL_SD: Mapping[str, float] = MappingProxyType(
    {
        "throughput": _CENTRE,
        "server cpu": _CPU,
        **dict.fromkeys(("p5", "p25", "p50", "p75"), _CENTRE),
        **dict.fromkeys(("p90", "p95"), _UPPER),
        **dict.fromkeys(("p99", "p99.9"), _TAIL),
    }
)
"""Standard deviation of ln(value) from round to round where nothing else is known, one for each family of
metrics: about the median over the valid cells of docs/results (docs/explanation/how-often-right.md)."""

TYPICAL_DF = 1.5
"""Degrees of freedom of that: with them, one round of those cells predicts another at 95 % in 94 to 97 %."""

MAX_DF = 1000.0
"""More degrees of freedom than this make no difference."""


@dataclass(frozen=True)
class Spread:
    """A variance of ln(value), and the degrees of freedom that it is known with (0: not at all)."""

    variance: float
    df: float

    @classmethod
    def of(cls, logs: Sequence[float] | Floats, resolution: float = RESOLUTION) -> "Spread":
        """That of at least one round; never 0, as rounds are not known more precisely than `resolution`."""
        if len(logs) < 2:
            return cls(resolution**2, 0)
        return cls(max(float(np.var(logs, ddof=1)), resolution**2), len(logs) - 1)

    def times(self, factor: float) -> "Spread":
        """The spread of variances that are `factor` times as large."""
        return Spread(self.variance * factor, self.df)

    def joined(self, other: "Spread") -> "Spread":
        """Both together: the mean by degrees of freedom, of which one has some."""
        df = self.df + other.df
        return Spread((self.df * self.variance + other.df * other.variance) / df, df)


def moderated(own: Spread, usual: Spread | None) -> Spread:
    """The spread of a cell from its own rounds and from what is usual, if anything is known of that."""
    if usual is None or usual.df <= 0:
        return own
    prior = min(usual.df, MAX_DF)
    if own.df:
        prior *= _alike(own.variance / usual.variance, own.df, prior) ** 3
    return own.joined(Spread(usual.variance, prior))


def _alike(ratio: float, df: float, prior: float) -> float:
    """The two-sided probability of a ratio of variances this far from 1, or farther, by chance."""
    if prior >= MAX_DF:
        below = float(gamma.lower(df / 2, ratio * df / 2))
    else:
        of_both = df * ratio + prior
        below = beta.cdf(df / 2, prior / 2, df * ratio / of_both, prior / of_both)
    return max(0.0, min(1.0, 2 * min(below, 1 - below)))


def fitted(cells: Sequence[Spread]) -> Spread | None:
    """What is usual among cells, by the moments of the logarithms of their variances (`fitFDist` of limma).

    None for fewer than two cells with two rounds. The degrees of freedom are infinite if the cells differ no
    more than by chance, but count no more than those of all cells together.
    """
    known = [cell for cell in cells if cell.df > 0 and cell.variance > 0]
    if len(known) < 2:
        return None
    variances, df = (np.array([getattr(cell, name) for cell in known]) for name in ("variance", "df"))
    logs = np.log(variances) - digamma(df / 2) + np.log(df / 2)
    between = float(np.var(logs, ddof=1) - np.mean(trigamma(df / 2)))
    max_df = float(df.sum() - df.min())
    if between <= 0:
        return Spread(float(variances.mean()), max_df)
    half = _trigamma_inverse(between)
    scale = math.exp(float(logs.mean()) + float(digamma(half)) - math.log(half))
    return Spread(scale, min(2 * half, max_df))


def _trigamma_inverse(value: float) -> float:
    """y with trigamma(y) = value > 0, by Newton's method on 1/trigamma. Source: Smyth (2004), appendix."""
    if value > 1e7:
        return 1 / math.sqrt(value)
    if value < 1e-6:
        return 1 / value
    y = 0.5 + 1 / value
    for _ in range(50):
        now = float(trigamma(y))
        step = now * (1 - now / value) / float(tetragamma(y))
        y += step
        if -step / y < 1e-8:
            break
    return y


def typical(sd: float, variance_in_a_round: float = 0.0) -> Spread:
    """What is usual where nothing but the recorded `sd` is known, and the variance `variance_in_a_round` a
    round.

    `variance_in_a_round`: that of the logarithm of a quantile, because a round has so few requests. It is
    known, so the larger its share, the more degrees of freedom the sum has. Source: Satterthwaite, Biometrics
    2 (1946).
    """
    between = sd**2
    return Spread(
        between + variance_in_a_round,
        min(MAX_DF, TYPICAL_DF * ((between + variance_in_a_round) / between) ** 2),
    )


@dataclass(frozen=True)
class Usual:
    """What spread is usual for one metric in a run.

    Earlier runs say nothing of how much few requests explain, so that counts as a part of what they say.
    """

    sd: float
    """Its `TYPICAL_SD`."""
    cells: Spread | None = None
    """What the cells of the run say, as multiples of `typical`; None if there are fewer than two."""
    runs: int = 0
    """The number of earlier runs that they are of, too."""

    def spread(self, variance_in_a_round: float = 0.0) -> Spread:
        """What is usual for a cell with this variance `variance_in_a_round` a round: see `typical`."""
        recorded = typical(self.sd, 0.0 if self.runs else variance_in_a_round)
        if self.cells is None:
            return recorded
        return self.cells.times(recorded.variance)


def typical_ratio(left: str, right: str) -> Spread | None:
    """What is usual for the ratio of two metrics in the same round; None unless both were recorded."""
    if left not in TYPICAL_SD or right not in TYPICAL_SD:
        return None
    return typical(math.hypot(TYPICAL_SD[left], TYPICAL_SD[right]))


def spread_of(usual: Usual | None, variance_in_a_round: float = 0.0) -> Spread | None:
    """`usual.spread`; None if nothing is known of what is usual."""
    return None if usual is None else usual.spread(variance_in_a_round)


UsualOf = Callable[[str], Usual | None]
"""What spread is usual for a metric, by its name; None if that is not known."""


def not_known(name: str) -> None:
    """Nothing is known of what spread is usual."""
