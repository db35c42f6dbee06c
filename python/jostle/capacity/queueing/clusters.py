"""Late requests come in clusters: a queue that is long stays long for a while."""

import math

__all__ = ["cluster_size"]


def cluster_size(rate: float, limit_s: float, share: float) -> float:
    """How many requests in a row are late, on average, where `share` of all take longer than `limit_s`.

    For one exponential worker: its response times fall off as exp(-θt), so θ = ln(1/share)/limit, and a queue
    that has grown beyond a level stays there for (λ + μ)/(μ - λ)² on average, with μ - λ = θ. Several workers
    and other laws of service come close as far as their waits fall off in the same way; if requests share
    cores, clusters are smaller. Source: Aldous, Probability Approximations via the Poisson Clumping
    Heuristic, 1989, B.
    """
    a = rate * limit_s / math.log(1 / share)
    return 1 + a + 2 * a * a
