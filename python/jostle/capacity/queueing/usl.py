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

__all__ = ["MIN_LEVELS", "Usl", "fit"]

MIN_LEVELS = 6

NOTHING = 1e-9
"""With a coherence below this, the peak lies beyond any concurrency that can be reached."""


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
    from scipy.optimize import least_squares

    n, x = np.asarray(concurrency, float), np.asarray(throughput, float)
    if len(n) < MIN_LEVELS:
        return None

    def missing(law: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> "np.ndarray[tuple[int], np.dtype[np.float64]]":  # fmt: skip  # noqa: E501
        gamma, alpha, beta = law
        return np.asarray(np.exp(gamma) * n / (1 + alpha * (n - 1) + beta * n * (n - 1)) / x - 1)

    start = [math.log(float(np.max(x / n))), 0.01, 1e-4]
    bounds = ([-np.inf, 0.0, 0.0], [np.inf, 1.0, 1.0])
    found = least_squares(missing, start, bounds=bounds, x_scale=[1.0, 0.05, 0.001], xtol=1e-12, ftol=1e-12)
    gamma, alpha, beta = map(float, found.x)
    law = Usl(math.exp(gamma), alpha, beta)
    beyond = int(np.sum(n > n[int(np.argmax(x))]))
    if beyond == 0:
        return Usl(law.gamma_per_s, alpha, beta, "β unidentified: no level lies beyond the peak")
    return law
