"""Erlang B and C: Poisson arrivals, exponential service, c servers.

A request that finds no server free is lost (B) or waits (C). `load` is in erlangs: arrival rate times mean
service time. A queue is stable for `load` < `servers` only.
Sources: Erlang 1917; the recursion: Jagerman, Bell System Technical Journal 53 (1974); the distribution of
waits and responses: Gross and Harris, Fundamentals of Queueing Theory, 2.3.
"""

import math

__all__ = ["erlang_b", "erlang_c", "response_tail"]


def erlang_b(servers: int, load: float) -> float:
    """Share of the requests that find all servers busy and are lost. Stable for any number of servers."""
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = load * blocked / (n + load * blocked)
    return blocked


def erlang_c(servers: int, load: float) -> float:
    """Share of the requests that have to wait; 1 where the queue is not stable."""
    if load >= servers:
        return 1.0
    blocked, busy = erlang_b(servers, load), load / servers
    return blocked / (1 - busy * (1 - blocked))


def response_tail(seconds: float, servers: int, load: float, service_s: float) -> float:
    """P(wait + service > `seconds`), first come, first served."""
    if load >= servers:
        return 1.0
    waits, t, drain = erlang_c(servers, load), seconds / service_s, servers - load
    served = math.exp(-t)
    if abs(drain - 1) < 1e-9:
        both = (1 + t) * served
    else:
        both = (drain * served - math.exp(-drain * t)) / (drain - 1)
    return (1 - waits) * served + waits * both
