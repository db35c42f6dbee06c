"""Processor sharing with Poisson arrivals: means depend on the mean service time alone, whatever its law.

Source: Kleinrock, Journal of the ACM 14 (1967); insensitivity: Baskett, Chandy, Muntz and Palacios, Journal
of the ACM 22 (1975); several cores: Cohen, Acta Informatica 12 (1979).
"""

import math

from jostle.analysis.queueing.erlang import mean_wait

__all__ = ["mean_response", "response_of_size"]


def response_of_size(size_s: float, utilisation: float) -> float:
    """Mean response time of a request that takes `size_s` alone, on one core."""
    return size_s / (1 - utilisation) if utilisation < 1 else math.inf


def mean_response(cores: int, load: float, service_s: float) -> float:
    """Mean response time on so many cores: that of M/M/c, for any law."""
    return service_s + mean_wait(cores, load, service_s)
