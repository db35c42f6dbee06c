"""How many rounds a new run needs to decide what these rounds could not: a range, or nothing.

Computed on the logarithmic scale, where rounds vary alike whatever their level, for a new run that decides
with a power of 80 % if the difference that was seen is the true one. The lower end uses the spread that was
seen, the upper end its upper confidence limit of 80 %, because a few rounds often vary too little by chance.
Continuing the same run until it decides would be a second look, which needs another method. Source: Kieser
and Wassmer, Biometrical Journal 38 (1996); power by the noncentral t.
"""

import math
from collections.abc import Sequence

import numpy as np

from jostle.analysis.stats import chi_squared, noncentral_t, student
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.analysis.stats.moderated import Spread
from jostle.analysis.stats.power import POWER
from jostle.analysis.stats.quantile_ci import CONFIDENCE

__all__ = ["MAX_ROUNDS", "rounds_for", "rounds_to_decide"]

MAX_ROUNDS = 100
"""Nobody measures more rounds than this."""


def rounds_to_decide(
    values: Sequence[float], limit: float, confidence: float = CONFIDENCE
) -> tuple[int, int] | None:
    """The fewest and the most rounds that may be needed, each at most `MAX_ROUNDS` + 1.

    `values`: one positive value per round, to be told from `limit`. None if no forecast is possible: fewer
    than three rounds, a value that is not positive, or values so near the limit that their side is unknown.
    """
    n = len(values)
    if n < MIN_ROUNDS or min(values) <= 0 or limit <= 0:
        return None
    logs = np.log(values)
    distance, sd = abs(float(logs.mean()) - math.log(limit)), float(np.std(logs, ddof=1))
    if distance <= sd / math.sqrt(n):
        return None
    largest_sd = sd * math.sqrt((n - 1) / chi_squared.upper_quantile(n - 1, POWER))
    return (
        rounds_for(distance, Spread(sd**2, 0), confidence),
        rounds_for(distance, Spread(largest_sd**2, 0), confidence),
    )


def rounds_for(distance: float, spread: Spread, confidence: float) -> int:
    """The fewest rounds of a new run that tell a value from a limit `distance` from it, on the logarithmic
    scale.

    `spread`: how much rounds vary, and the degrees of freedom with which that is known before the run. At
    most `MAX_ROUNDS` + 1.
    """
    sd = math.sqrt(spread.variance)
    for rounds in range(MIN_ROUNDS, MAX_ROUNDS + 1):
        df = rounds - 1 + spread.df
        needed = student.quantile(df, (1 + confidence) / 2)
        if sd == 0 or noncentral_t.cdf(df, distance / sd * math.sqrt(rounds), needed) <= 1 - POWER:
            return rounds
    return MAX_ROUNDS + 1
