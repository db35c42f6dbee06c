"""N clients who think, ask and wait: M/M/c//N, exact by its birth-death process.

Means hold for processor sharing with any law of service and of think time; quantiles are those of first
come, first served with exponential service. A request finds the system as N - 1 clients would leave it.
Sources: Gross and Harris, Fundamentals of Queueing Theory, 2.7; arrival theorem: Sevcik and Mitrani, Journal
of the ACM 28 (1981).
"""

import math
from typing import NamedTuple

import numpy as np

from jostle.analysis.stats import gamma
from jostle.analysis.stats.sample import Floats, Ints

__all__ = ["Closed", "closed", "response_tail"]

NODES = 96
"""Nodes of the quadrature over the service time."""

NEGLIGIBLE = 1e-13


class Closed(NamedTuple):
    """Means of the steady state."""

    throughput_per_s: float
    response_s: float
    utilisation: float  # share of the servers that are busy


def closed(clients: int, servers: int, service_s: float, think_s: float) -> Closed:
    """`clients` clients of `think_s` mean think time (0: none) at `servers` servers."""
    probabilities = _states(clients, servers, service_s, think_s)
    busy = float(probabilities @ np.minimum(np.arange(clients + 1), servers))
    throughput = busy / service_s
    return Closed(throughput, clients / throughput - think_s, busy / servers)


def _states(clients: int, servers: int, service_s: float, think_s: float) -> Floats:
    """P(n requests at the station) for n = 0 … `clients`; built in logarithms, stable for thousands."""
    if think_s == 0:
        return np.append(np.zeros(clients), 1.0)
    n = np.arange(1, clients + 1)
    steps = np.log((clients - n + 1) / think_s) - np.log(np.minimum(n, servers) / service_s)
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    each = np.exp(logs - logs.max())
    return np.asarray(each / each.sum())


def response_tail(seconds: float, clients: int, servers: int, service_s: float, think_s: float) -> float:
    """P(wait + service > `seconds`).

    The wait is a sum of exponential departures, integrated over the service by Gauss-Legendre.
    """
    found = _states(clients - 1, servers, service_s, think_s) if clients > 1 else np.ones(1)
    ahead = np.flatnonzero(found > NEGLIGIBLE)
    departures, share = np.maximum(0, ahead - servers + 1), found[ahead]
    points, weights = np.polynomial.legendre.leggauss(NODES)
    served = (points + 1) / 2 * seconds
    left = (seconds - served)[:, None] * servers / service_s
    waits = departures > 0
    still = _still_waiting(departures[waits], left) @ share[waits]
    density = np.exp(-served / service_s) / service_s
    return math.exp(-seconds / service_s) + float(weights @ (density * still)) * seconds / 2


def _still_waiting(departures: Ints, left: Floats) -> Floats:
    """P(a sum of as many exponential times is longer), for successive numbers of them; a row for each `left`.

    One more adds the probability of just so many events in that time.
    """
    if not len(departures):
        return np.zeros((len(left), 0))
    first = gamma.upper(float(departures[0]), left)
    events = departures[:-1]
    factorials = np.array([math.lgamma(n + 1) for n in events.tolist()])
    just = np.exp(events * np.log(left) - left - factorials)
    return np.cumsum(np.hstack([first, just]), axis=1)
