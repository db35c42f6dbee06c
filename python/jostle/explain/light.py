"""The light stream: requests at random times, so few that they hardly ever wait for one another, while other
connections stay idle.

Three probes read it: pauses, rate limit and keep-alive.
"""

import random

from jostle.explain.results import StreamPoint
from jostle.explain.session import Session
from jostle.host.pressure import pressure_s

__all__ = ["LIGHT", "idle_pauses", "light_stream", "poisson"]

LIGHT = 0.1
"""The share of one worker that the stream keeps busy at most."""

STREAM = 1 / 8
"""The stream's share of the time allowed."""

IDLE_S = (1.0, 1.5, 2.5, 4.0, 6.0, 8.0, 11.0, 16.0, 21.0, 31.0, 36.0)
"""How long the connections stay idle; the usual limits of 2, 3, 5, 10, 15, 20 and 30 s lie in between."""


def poisson(rate_per_s: float, seconds: float, seed: int) -> list[float]:
    """Arrival times of a Poisson process in [0, `seconds`), with an additional one at 0."""
    stream = random.Random(seed)
    times, at = [0.0], 0.0
    while (at := at + stream.expovariate(rate_per_s)) < seconds:
        times.append(at)
    return times


def idle_pauses(seconds: float) -> list[float]:
    """The idle pauses that end within a stream of `seconds`."""
    return [pause for pause in IDLE_S if pause < seconds - 1.0]


def light_stream(session: Session) -> None:
    """Sends the stream to the shortest route, and keeps the result in `session.light` and `session.stream`.
    Sends nothing if less than half of its time is left.
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
    session.refusals += sum(response.refused for response in session.light.responses)
    session.stream += [
        StreamPoint(response.due_s, response.response_s) for response in session.light.responses
    ]
