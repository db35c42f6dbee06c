"""The first three derivatives of the logarithm of the gamma function.

Source: Abramowitz and Stegun, 6.3.18 and 6.4.11, whose series are exact to rounding from `LARGE` on; below,
the recurrences 6.3.5 and 6.4.6 lead there. Near its zero at 1.46 the digamma function has fewer digits.
"""

import numpy as np
import numpy.typing as npt

from jostle.analysis.stats.sample import Floats

__all__ = ["digamma", "tetragamma", "trigamma"]

LARGE = 16.0

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""B₂ₖ for k = 1, 2, …"""


def digamma(x: npt.ArrayLike) -> Floats:
    """The derivative of ln Γ at every `x` > 0."""
    large, before = _raised(x, 1)
    series = sum(b / (2 * k * large ** (2 * k)) for k, b in enumerate(BERNOULLI, 1))
    return np.log(large) - 1 / (2 * large) - series - before


def trigamma(x: npt.ArrayLike) -> Floats:
    """The second derivative of ln Γ at every `x` > 0."""
    large, before = _raised(x, 2)
    series = sum(b / large ** (2 * k + 1) for k, b in enumerate(BERNOULLI, 1))
    return before + 1 / large + 1 / (2 * large**2) + series


def tetragamma(x: npt.ArrayLike) -> Floats:
    """The third derivative of ln Γ at every `x` > 0."""
    large, before = _raised(x, 3)
    series = sum((2 * k + 1) * b / large ** (2 * k + 2) for k, b in enumerate(BERNOULLI, 1))
    return -2 * before - 1 / large**2 - 1 / large**3 - series


def _raised(x: npt.ArrayLike, power: int) -> tuple[Floats, Floats]:
    """Every `x` plus a whole number, so that it is large, and Σ 1/xᵖᵒʷᵉʳ over what was passed."""
    large = np.array(x, dtype=np.float64)
    passed = np.zeros_like(large)
    while (small := large < LARGE).any():
        passed += np.where(small, 1 / large**power, 0.0)
        large = np.where(small, large + 1, large)
    return large, passed
