"""Intervals that hold however often one looks: alpha spending over rounds.

Whoever adds rounds until an interval of 95 % decides is wrong far more often than in 5 %: 16 % of the time
with up to 10 rounds, 32 % with up to 60. Here the permitted error A is spent over the looks, half of it at
the first one, after F rounds, and A (1 - F/2n) in all by the look after n rounds. For the mean of n normal
values of known spread, √n times the mean is a random walk; the boundary that it first crosses after n
rounds with the probability that is spent then follows by numerical integration, look by look. Its two-sided
significance level is then used with Student's quantile for n - 1 degrees of freedom. That is close for an
unknown spread, and a little too bold (5.6 % for 5 %), so that only the share `STUDENT` is spent
(tests/oracles).

Where a run ended because its time was spent, and not because of what it had found, the last look spends
whatever error is left. If that is the first look too, it was looked at once: its intervals are those of a
fixed number of rounds.

Sources: Lan and DeMets, Biometrika 70 (1983); Armitage, McPherson and Rowe, JRSS A 132 (1969); Jennison and
Turnbull, Group Sequential Methods (2000), 4.4 (Student's t) and 9 (repeated confidence intervals).
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial

import numpy as np

from jostle.analysis.stats.sample import Floats
from jostle.analysis.stats.special import ndtr
from jostle.plan.model import FIRST_ROUNDS

__all__ = ["FIRST_LOOK", "MOST_ROUNDS", "Level", "fixed", "last_look", "repeated_looks"]

Level = Callable[[float, int], float]
"""The confidence of one interval that is made after so many rounds, from that which is asked for."""


def fixed(confidence: float, rounds: int) -> float:  # noqa: ARG001 (a `Level`)
    """How many rounds there would be was known before: nothing is to be paid."""
    return confidence


FIRST_LOOK = FIRST_ROUNDS
"""Rounds before the first look: with fewer there is no interval. Differences of several times what rounds
vary by are decided here, and most that servers are compared for are such."""

MOST_ROUNDS = 60
"""No run goes on for longer: what has not been told by then is too close."""

STUDENT = 0.85
"""Share of the permitted error that is spent; the rest is lost where the spread is estimated."""

POINTS = 401
"""Of the numerical integration, at each look (Simpson's rule)."""


def repeated_looks(confidence: float, rounds: int) -> float:
    """What an interval after so many rounds needs, for those of all looks together to have `confidence`."""
    if rounds < FIRST_LOOK:
        return confidence
    return _levels(round(1 - confidence, 15))[min(rounds, MOST_ROUNDS) - FIRST_LOOK]


def last_look(confidence: float, rounds: int) -> float:
    """The same where the look after so many rounds is the last one, whatever it shows."""
    if rounds <= FIRST_LOOK:
        return confidence
    return _last_level(round(1 - confidence, 15), min(rounds, MOST_ROUNDS))


@lru_cache(maxsize=256)
def _levels(alpha: float) -> list[float]:
    """The confidence of each look that others follow, from the first on."""
    return [_confidence(boundary, rounds) for rounds, boundary, _ in _looks(alpha)]


@lru_cache(maxsize=256)
def _last_level(alpha: float, rounds: int) -> float:
    """The confidence of the look after so many rounds where it is the last one."""
    return next(_confidence(last(), n) for n, _, last in _looks(alpha) if n == rounds)


def _looks(alpha: float) -> Iterator[tuple[int, float, Callable[[], float]]]:
    """Of each look its rounds, its boundary, and what the boundary is if it is the last one."""
    spent, walk, density = 0.0, np.zeros(1), np.ones(1)
    before = 0
    for rounds in range(FIRST_LOOK, MOST_ROUNDS + 1):
        until_now = STUDENT * alpha * (1 - FIRST_LOOK / (2 * rounds))
        boundary = _boundary(walk, density, rounds - before, until_now - spent)
        yield rounds, boundary, partial(_boundary, walk, density, rounds - before, STUDENT * alpha - spent)
        walk, density = _within(boundary, walk, density, rounds - before)
        spent, before = until_now, rounds


def _confidence(boundary: float, rounds: int) -> float:
    """Two-sided, of the random walk after so many rounds."""
    return float(1 - 2 * ndtr(-boundary / np.sqrt(rounds)))


def _boundary(walk: Floats, density: Floats, steps: int, spend: float) -> float:
    """What is crossed now with probability `spend`, on both sides alike.

    `walk`, `density`: points within the boundary of the look before, and the weighted density there.
    """
    scale = np.sqrt(steps)

    def crossed(boundary: float) -> float:
        return 2 * float(density @ ndtr((walk - boundary) / scale))

    low, high = 0.0, float(np.abs(walk).max() + 12 * scale)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if crossed(middle) > spend else (low, middle)
    return (low + high) / 2


def _within(boundary: float, walk: Floats, density: Floats, steps: int) -> tuple[Floats, Floats]:
    """Points within the boundary, and the weighted density there after so many steps more."""
    scale = np.sqrt(steps)
    points = np.linspace(-boundary, boundary, POINTS)
    weights = np.full(POINTS, 2.0)
    weights[1::2] = 4.0
    weights[[0, -1]] = 1.0
    weights *= (points[1] - points[0]) / 3
    distances = (points[:, None] - walk[None, :]) / scale
    now = (np.exp(-(distances**2) / 2) / (scale * np.sqrt(2 * np.pi))) @ density
    return points, weights * now
