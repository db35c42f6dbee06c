"""How many rounds would decide what these could not? A range, or nothing.

On the logarithm, where rounds vary alike whatever their level; for a new run that decides with a power of
80 % if what was seen is true. The lower end takes the spread that was seen, the upper one the spread that
it stays below with 80 %, as a few rounds often differ by too little. To go on with the same run until it
decides is a second look, and another method. Source: Kieser and Wassmer, Biometrical Journal 38 (1996);
power by the noncentral t.
"""

import math
from collections.abc import Sequence

import numpy as np

from jostle.analysis.stats.enough import LEAST_ROUNDS
from jostle.analysis.stats.power import POWER
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.special import chdtri, nctdtr, stdtrit

__all__ = ["MOST_ROUNDS", "rounds_to_decide"]

MOST_ROUNDS = 100
"""More than this nobody measures."""


def rounds_to_decide(
    values: Sequence[float], limit: float, confidence: float = CONFIDENCE
) -> tuple[int, int] | None:
    """From so many to so many rounds, at most `MOST_ROUNDS` + 1, for one positive value per round against
    a limit.

    None where it cannot be said: fewer than three rounds, something that is not positive, or values so
    near the limit that nobody knows on which side they are.
    """
    n = len(values)
    if n < LEAST_ROUNDS or min(values) <= 0 or limit <= 0:
        return None
    logs = np.log(values)
    far, sd = abs(float(logs.mean()) - math.log(limit)), float(np.std(logs, ddof=1))
    if far <= sd / math.sqrt(n):
        return None
    most = sd * math.sqrt((n - 1) / float(chdtri(n - 1, POWER)))
    return _rounds(far, sd, confidence), _rounds(far, most, confidence)


def _rounds(far: float, sd: float, confidence: float) -> int:
    """The fewest of a new run."""
    for rounds in range(LEAST_ROUNDS, MOST_ROUNDS + 1):
        needed = float(stdtrit(rounds - 1, (1 + confidence) / 2))
        if sd == 0 or nctdtr(rounds - 1, far / sd * math.sqrt(rounds), needed) <= 1 - POWER:
            return rounds
    return MOST_ROUNDS + 1
