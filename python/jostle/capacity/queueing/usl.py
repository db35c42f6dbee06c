"""The universal scalability law: throughput against concurrency, X = γN / (1 + α(N-1) + βN(N-1)).

α is contention (what is serial), β coherence (what each must agree on with every other). Fitted directly by
least squares with α, β ≥ 0: the quadratic linearisation can give negative β. N is the concurrency inside the
server, throughput times response time, not the number of users. Source: Gunther, Guerrilla Capacity
Planning (2007), chapter 4 to 6.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jostle.analysis.stats.sample import Floats
from jostle.capacity.queueing.least_squares import bounded

__all__ = ["MIN_LEVELS", "Usl", "fit"]

MIN_LEVELS = 6

NOTHING = 1e-9
"""With a coherence below this, the peak lies beyond any concurrency that can be reached."""


START = np.array([0.01, 1e-4])
SCALE = np.array([0.05, 0.001])
"""α and β from which the fit starts, and what is a large change of either."""


@dataclass(frozen=True)
class Usl:
    """The universal scalability law, fitted to levels of a closed loop."""

    gamma_per_s: float
    """Throughput of one at a time."""
    alpha: float
    beta: float
    note: str = ""
    """What is not identified, and why."""

    def throughput(self, concurrency: float) -> float:
        n = concurrency
        return self.gamma_per_s * n / (1 + self.alpha * (n - 1) + self.beta * n * (n - 1))

    @property
    def peak(self) -> float:
        """The concurrency of the highest throughput, √((1-α)/β); infinite without coherence."""
        if self.beta <= NOTHING:
            return math.inf
        return math.sqrt(max(0.0, 1 - self.alpha) / self.beta)


def fit(concurrency: Sequence[float], throughput: Sequence[float]) -> Usl | None:
    """Fit the law to the throughput at each concurrency; None for fewer than `MIN_LEVELS` levels.

    If no level lies beyond the peak, `note` says that β is unidentified.
    """
    n, x = np.asarray(concurrency, float), np.asarray(throughput, float)
    if len(n) < MIN_LEVELS:
        return None
    # The relative error at each level is γr - 1, so for any α and β the best γ follows.
    others = np.stack([n - 1, n * (n - 1)])

    def ratios(law: Floats) -> Floats:
        return np.asarray(n / (1 + law @ others) / x)

    def missing(law: Floats) -> Floats:
        r = ratios(law)
        return _gamma(r) * r - 1

    alpha, beta = map(float, bounded(missing, START, SCALE))
    gamma = _gamma(ratios(np.array([alpha, beta])))
    beyond = int(np.sum(n > n[int(np.argmax(x))]))
    return Usl(gamma, alpha, beta, "" if beyond else "β unidentified: no level lies beyond the peak")


def _gamma(ratios: Floats) -> float:
    return float(ratios.sum() / (ratios @ ratios))
