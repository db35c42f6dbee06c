"""The light stream: requests for all routes at random times, so few that they seldom wait for one another,
while other connections stay idle.

Five probes read it: rare slow responses, pauses, who waits behind whom, rate limit and keep-alive.
"""

import random
from collections.abc import Sequence

from jostle.explain.results import StreamPoint
from jostle.explain.send import Response, Stream, awaits_acknowledgement
from jostle.explain.session import Baseline, Session
from jostle.explain.slow_responses.requests import Requests
from jostle.host.halts import Halt
from jostle.host.pressure import pressure_s

__all__ = ["LIGHT", "idle_pauses", "light_stream", "poisson", "rates", "sent_late"]

LIGHT = 0.1
"""The share of one worker that a stream of one route keeps busy at most."""

BUSY = 0.3
"""The share of one worker that all routes of the light stream keep busy together."""

ALONE = 0.7
"""The part of the requests for the shortest route that goes out on one connection, so that those on it can be
counted; the others may overtake them.
"""

POOL = 8
"""The most connections for all other requests: a few long ones hold up none."""

MIN_S = 4.0
"""A stream that would be shorter than this is not sent."""

OWN_S = 0.002
"""A request sent more than this after it was due, with its connection free, was delayed by the generator."""

IDLE_S = (1.0, 1.5, 2.5, 4.0, 6.0, 8.0, 11.0, 16.0, 21.0, 31.0, 36.0)
"""How long the connections stay idle; the usual limits of 2, 3, 5, 10, 15, 20 and 30 s lie in between."""


def poisson(rate_per_s: float, seconds: float, seed: int) -> list[float]:
    """Arrival times of a Poisson process in [0, `seconds`), with an additional one at 0."""
    stream = random.Random(seed)
    times, at = [0.0], 0.0
    while rate_per_s > 0 and (at := at + stream.expovariate(rate_per_s)) < seconds:
        times.append(at)
    return times


def idle_pauses(seconds: float) -> list[float]:
    """The idle pauses that end within a stream of `seconds`."""
    return [pause for pause in IDLE_S if pause < seconds - 1.0]


def rates(alone: list[Baseline], most_per_s: float) -> list[float]:
    """How often per second each route is asked for: all keep the server busy for an equal share of the time,
    and the first, shortest one takes what is left of `most_per_s`.
    """
    share = BUSY / len(alone)
    others = [min(share / one.demand_s, most_per_s / (2 * len(alone))) for one in alone[1:]]
    return [min(share / alone[0].demand_s, most_per_s - sum(others)), *others]


def light_stream(session: Session) -> None:
    """Sends the stream, and keeps the result in `session.light`, `session.requests` and `session.stream`.
    Raises `NoTime` if there is no time for it.
    """
    session.budget.need(MIN_S)
    alone = sorted(session.alone.values(), key=lambda one: one.demand_s)
    seconds = session.budget.left_s - max(1.0, 2 * alone[-1].demand_s)
    pauses = idle_pauses(seconds)
    pool = max(1, min(POOL, session.limits.connections - 1 - len(pauses)))
    most_per_s = min(session.limits.stream_rate_per_s, session.budget.rate_per_s) - 2 * len(pauses) / seconds
    first, *others = rates(alone, most_per_s)
    mixed = [(1 - ALONE) * first, *others]
    total = sum(mixed)
    session.tell(f"all routes for {seconds:.0f} s: whether some responses are slow, and who waits for whom")
    stream = Stream(
        [one.route for one in alone],
        [max(1, round(1000 * rate / total)) for rate in mixed],
        poisson(ALONE * first, seconds, seed=1),
        poisson(total, seconds, seed=2),
        pool,
    )
    before = pressure_s("cpu")
    session.light = session.sender.light(stream, pauses)
    after = pressure_s("cpu")
    session.pressure = None if before is None or after is None else (after - before) / seconds
    session.note(session.light.responses)
    session.requests = _answered(session.light.responses, session.bodies_wait)
    session.stream += [
        StreamPoint(response.due_s, response.response_s, response.route)
        for response in session.light.responses
    ]


def _answered(responses: Sequence[Response], bodies_wait: bool) -> Requests:
    """Those that were. Where the server's `bodies_wait` for acknowledgements, it is done with the head: that
    wait is told as such, and makes no rare slow response.
    """
    rows = []
    for one in responses:
        waited = bodies_wait and one.body_after_s is not None and awaits_acknowledgement(one.body_after_s)
        end_s = one.headers_s if waited else one.end_s
        if one.ok and one.sent_s is not None and end_s is not None:
            rows.append((one.route, one.connection, one.sent_s, end_s))
    return Requests.of(rows)


def sent_late(responses: Sequence[Response]) -> list[Halt]:
    """When jostle itself stood still: it sent requests of one connection late although the previous response
    had come.
    """
    late, free_s = [], 0.0
    for response in responses:
        if response.sent_s is not None:
            due_s = max(response.due_s, free_s)
            if response.sent_s - due_s > OWN_S:
                late.append(Halt(due_s, response.sent_s))
        free_s = max(free_s, response.end_s if response.end_s is not None else free_s)
    return late
