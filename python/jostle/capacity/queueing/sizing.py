"""The fewest workers that keep a promise. The model depends on what happens when all of them are busy:

- requests wait: Erlang C; for service that is not exponential, its tail is scaled by (1 + cv²)/2, as Allen
  and Cunneen scale the mean, and the service time is a gamma variate;
- requests are rejected: Erlang B;
- clients wait for their responses before they ask again: the finite source M/M/c//N.
"""

import math
from collections.abc import Callable

import numpy as np

from jostle.analysis.stats import gamma
from jostle.capacity.queueing import erlang, finite_source

__all__ = [
    "MAX_WORKERS",
    "finite_workers",
    "queueing_tail",
    "queueing_workers",
    "rejecting_workers",
]

MAX_WORKERS = 100_000

STEPS = 2000
"""Steps of the integral over service times up to the limit; the tail beyond it is exact."""


def _fewest(enough: Callable[[int], bool], start: int = 1) -> int | None:
    """The smallest number from `start` on that is enough; None above `MAX_WORKERS`.

    Assumes that more is never worse.
    """
    low, high = start - 1, start
    while not enough(high):
        if high >= MAX_WORKERS:
            return None
        low, high = high, min(2 * high, MAX_WORKERS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def queueing_tail(seconds: float, workers: int, rate_per_s: float, service_s: float, cv: float) -> float:
    """P(wait + service > `seconds`). Exact for `cv` = 1 (exponential service)."""
    load = rate_per_s * service_s
    if load >= workers:
        return 1.0
    if cv == 1:
        return erlang.response_tail(seconds, workers, load, service_s)
    waits = erlang.erlang_c(workers, load)
    drain = (workers - load) / service_s * 2 / (1 + cv * cv)
    if cv == 0:
        return 1.0 if seconds < service_s else waits * math.exp(-drain * (seconds - service_s))
    shape = 1 / cv**2
    ends = np.linspace(0, seconds, STEPS + 1)
    longer = gamma.upper(shape, ends * shape / service_s)
    left = seconds - (ends[1:] + ends[:-1]) / 2
    return float(longer[-1] + np.sum((longer[:-1] - longer[1:]) * waits * np.exp(-drain * left)))


def queueing_workers(
    rate_per_s: float, service_s: float, cv: float, limit_s: float, share: float
) -> int | None:
    """Fewest workers with which at most `share` of the requests exceed `limit_s`; None if no number does."""
    fewest = math.floor(rate_per_s * service_s) + 1
    return _fewest(
        lambda workers: queueing_tail(limit_s, workers, rate_per_s, service_s, cv) <= share, fewest
    )


def rejecting_workers(rate_per_s: float, service_s: float, share: float) -> int | None:
    """Fewest workers with which at most `share` of the requests find all of them busy."""
    load = rate_per_s * service_s
    return _fewest(lambda workers: erlang.erlang_b(workers, load) <= share)


def finite_workers(
    clients: int, think_s: float, service_s: float, limit_s: float, share: float
) -> int | None:
    """Fewest workers with which at most `share` of the requests of `clients` take longer than `limit_s`."""
    if math.exp(-limit_s / service_s) > share:
        return None  # not even one worker for each client would do
    return _fewest(
        lambda workers: finite_source.response_tail(limit_s, clients, workers, service_s, think_s) <= share
    )
