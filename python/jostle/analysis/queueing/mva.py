"""Mean value analysis: a closed network of stations with one server each, and a think time.

Exact where the network has a product form. Source: Reiser and Lavenberg, Journal of the ACM 27 (1980).
"""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Network", "mva", "saturation"]


class Network(NamedTuple):
    throughput_per_s: float
    response_s: float  # of all stations together
    queues: tuple[float, ...]  # mean number at each station


def mva(demands_s: Sequence[float], think_s: float, clients: int) -> Network:
    """`demands_s`: total service that a request needs at each station."""
    queues, throughput, response = [0.0] * len(demands_s), 0.0, 0.0
    for n in range(1, clients + 1):
        times = [demand * (1 + queue) for demand, queue in zip(demands_s, queues, strict=True)]
        response = sum(times)
        throughput = n / (think_s + response)
        queues = [throughput * time for time in times]
    return Network(throughput, response, tuple(queues))


def saturation(demands_s: Sequence[float], think_s: float) -> float:
    """N*: the number of clients from which on the busiest station is the limit, (ΣD + Z) / max D."""
    return (sum(demands_s) + think_s) / max(demands_s)
