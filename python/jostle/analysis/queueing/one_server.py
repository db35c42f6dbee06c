"""M/G/1, first come, first served: the formula of Pollaczek and Khinchine.

Source: Kleinrock, Queueing Systems I (1975), 5.6.
"""

import math

__all__ = ["mean_wait"]


def mean_wait(utilisation: float, service_s: float, scv: float) -> float:
    """Mean time in the queue. `scv`: squared coefficient of variation of the service time."""
    if utilisation >= 1:
        return math.inf
    return utilisation * service_s * (1 + scv) / (2 * (1 - utilisation))
