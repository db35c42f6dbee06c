"""Wald's sequential probability ratio test: does a share lie below a limit, or above it?

ln Λ grows by ln(p₁/p₀) with every observation that exceeds, and falls by ln((1-p₀)/(1-p₁)) with every one
that does not; the test decides at ± ln((1-β)/α). Successive observations are not independent: each counts as
1/τ of one, which has the effect of thinning without discarding any. Between p₀ and p₁ either answer is
possible.
Source: Wald, Sequential Analysis (1947), 3.
"""

import math
from typing import Literal, NamedTuple

__all__ = ["ERROR", "Hypotheses", "around", "decide"]

ERROR = 0.05
"""Both error probabilities, α and β."""

APART = 0.2
"""p₀ and p₁ lie this share below and above the limit."""


class Hypotheses(NamedTuple):
    """The shares that the test tells apart: `p0` below the limit, `p1` above it."""

    p0: float
    p1: float

    @property
    def bound(self) -> float:
        """The test decides when ln Λ reaches ± this."""
        return math.log((1 - ERROR) / ERROR)

    def ratio(self, n: float, exceeded: float, tau: float = 1.0) -> float:
        """ln Λ after `n` observations, of which `exceeded` did; `tau`: their autocorrelation time."""
        up, down = math.log(self.p1 / self.p0), math.log((1 - self.p0) / (1 - self.p1))
        return (exceeded * up - (n - exceeded) * down) / tau


def around(limit: float) -> Hypotheses:
    """Hypotheses a fifth below and above a limit between 0 and 1."""
    return Hypotheses((1 - APART) * limit, min((1 + APART) * limit, (1 + limit) / 2))


def decide(about: Hypotheses, n: float, exceeded: float, tau: float = 1.0) -> Literal["below", "above", ""]:
    """On which side of the limit the share lies; "" while it is undecided."""
    ratio = about.ratio(n, exceeded, tau)
    return "below" if ratio <= -about.bound else "above" if ratio >= about.bound else ""
