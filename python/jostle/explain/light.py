"""The light stream: requests at random times, few enough that none waits for another, while connections
stay idle.

Three probes read it: pauses, rate limit and keep-alive.
"""

import random

from jostle.explain.results import StreamPoint
from jostle.explain.session import Session
from jostle.host.pressure import pressure_s

__all__ = ["LIGHT", "idle_pauses", "light_stream", "poisson"]

LIGHT = 0.1
"""The stream keeps no more than this part of a worker busy."""

STREAM = 1 / 8
"""Its part of the time allowed."""

IDLE_S = (1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 16.0, 21.0, 31.0, 36.0)
"""Pauses of the idle connections: between them lie the usual limits of 2, 5, 10, 15, 20 and 30 s."""


def poisson(rate_per_s: float, seconds: float, seed: int) -> list[float]:
    """Arrivals of a Poisson process in [0, `seconds`), and one at 0."""
    stream = random.Random(seed)
    times, at = [0.0], 0.0
    while (at := at + stream.expovariate(rate_per_s)) < seconds:
        times.append(at)
    return times


def idle_pauses(seconds: float) -> list[float]:
    """Those that are over within the stream."""
    return [pause for pause in IDLE_S if pause < seconds - 1.0]


def light_stream(session: Session) -> None:
    """Sends it, with the shortest route, and keeps what came of it in `session.light` and
    `session.stream`.
    """
    limits, opening = session.limits, session.opening
    seconds = min(STREAM * limits.seconds, session.budget.left_s)
    if seconds < STREAM * limits.seconds / 2:
        return
    pauses = idle_pauses(seconds)
    idle_rate = (2 * len(pauses)) / seconds
    rate = min(limits.stream_rate_per_s - idle_rate, LIGHT / opening.demand_s)
    session.tell(f"whether the server pauses: {opening.route.asked} for {seconds:.0f} s")
    before = pressure_s("cpu")
    session.light = session.sender.light(opening.route, poisson(rate, seconds, seed=1), pauses)
    after = pressure_s("cpu")
    session.pressure = None if before is None or after is None else (after - before) / seconds
    session.refusals += sum(answer.refused for answer in session.light.answers)
    session.stream += [StreamPoint(answer.due_s, answer.response_s) for answer in session.light.answers]
