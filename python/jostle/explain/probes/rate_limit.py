"""A rate limiter: which requests of the light stream were refused, and in what order.

A token bucket with rate r and burst b accepts b requests at once, and then r per second.
"""

import math
from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, out_of_time
from jostle.explain.reason import Reason
from jostle.explain.send import Response
from jostle.explain.server.target import Route
from jostle.explain.session import Session
from jostle.formatting import amount, listed, plural, with_range

__all__ = ["bucket", "rate_limit"]

REFUSED_S = 1.0
"""A refusal is worse than any wait."""

FEW = 5
"""How many refusals, and how many accepted requests after the first refusal, it takes to state a rate."""


def bucket(responses: Sequence[Response]) -> tuple[float, float] | None:
    """Rate per second and burst of a token bucket that would refuse the same requests; None if there were too
    few.

    The bucket is empty at the first refusal, so what was accepted until then is the burst plus what flowed in
    meanwhile."""
    ordered = sorted((a for a in responses if a.sent_s is not None), key=lambda a: a.sent_s or 0.0)
    first = next((i for i, response in enumerate(ordered) if response.refused), None)
    if first is None:
        return None
    begin, last = ordered[first].sent_s or 0.0, ordered[-1].sent_s or 0.0
    after = [response for response in ordered[first:] if response.ok]
    refused = [response for response in ordered if response.refused]
    if len(after) < FEW or len(refused) < FEW or last <= begin:
        return None
    rate = len(after) / (last - begin)
    started = ordered[0].sent_s or 0.0
    before = sum(response.ok for response in ordered[:first])
    return rate, max(0.0, before - rate * (begin - started))


REST_S, FIRST_S = 2.0, 4.0
"""Before a limit is looked for, nothing is asked, so that all that may come at once is allowed again; and for
how long it is looked for.
"""

SAFE = 0.5
"""The share of a limit that is asked once it is known."""

BLIND = 0.25
"""The share of the rate that was refused, if the limit is not known."""


def go_gently(session: Session, route: Route) -> None:
    """The server refuses requests before it was asked anything: what it allows is found out by a short stream
    after a rest, and everything else is asked at half of it.
    """
    session.tell(f"at which rate {route.in_sentences} is refused")
    rate = session.budget.rate_per_s
    session.sender.rest(REST_S)
    times = [place / rate for place in range(int(FIRST_S * rate))]
    responses = session.sender.stream(route, times, session.limits.connections)
    session.rate_limit = _limited(session, responses)
    limit = bucket(responses)
    session.budget.slow_down(rate * BLIND if limit is None else max(1.0, SAFE * limit[0]))


def rate_limit(session: Session) -> Finding:
    """Looks at the light stream; if only other requests were refused, sends a stream at the highest rate
    allowed.
    """
    topic, light = Topic.RATE_LIMIT, session.light
    if session.rate_limit is not None:
        return session.rate_limit
    if light is None:
        return out_of_time(topic)
    responses: Sequence[Response] = light.responses
    if session.refusals and not any(response.refused for response in responses):
        responses = _faster(session)
    return _limited(session, responses)


def _limited(session: Session, responses: Sequence[Response]) -> Finding:
    """The finding from a stream of requests."""
    topic = Topic.RATE_LIMIT
    refused = [response for response in responses if response.refused]
    length_s = responses[-1].due_s
    rate = len(responses) / length_s
    if not refused:
        bursts = f" Of bursts, {plural(session.refusals, 'request')} were." if session.refusals else ""
        return decided_finding(
            topic,
            f"No rate limit up to {amount(rate, '/s')}.",
            [f"{plural(len(responses), 'request')} in {length_s:.0f} s; none was refused.{bursts}"],
            {"offered": Estimate(rate, unit="/s", n=len(responses))},
            absent=f"a rate limit below {amount(rate, '/s')}",
        )
    statuses = listed(sorted({response.refusal for response in refused}))
    evidence = [
        f"{len(refused)} of {plural(len(responses), 'request')} in {length_s:.0f} s were refused "
        f"({statuses})."
    ]
    limit = bucket(responses)
    if limit is None:
        return cannot_tell(
            topic,
            Reason.NOISY,
            f"{plural(len(refused), 'request')} were refused, too few to state a rate"
            if len(refused) < FEW
            else "hardly any request was accepted after the first refusal",
            "a longer stream, or a higher rate",
            evidence,
            option="--thorough",
        )
    accepted, burst = limit
    after = sum(response.ok for response in responses)
    reach = 2 * accepted / math.sqrt(max(1, after))
    rate_figure = Estimate(accepted, max(0.0, accepted - reach), accepted + reach, "/s", n=len(responses))
    return decided_finding(
        topic,
        f"The server limits the rate to {with_range(rate_figure)}, after about {burst:.0f} at once, and "
        f"refuses the rest with {statuses}.",
        evidence,
        {
            "rate": rate_figure,
            "burst": Estimate(burst, unit="", n=len(responses)),
        },
        hurts_s=REFUSED_S,
        cure="Raise it, or let clients send more slowly.",
    )


STREAM = 0.8
"""Share of the stage for the faster stream."""


def _faster(session: Session) -> Sequence[Response]:
    """Sends a stream with equal gaps to the first route, which is the short one."""
    limits, route = session.limits, session.target.routes[0]
    session.tell(f"at which rate {route.in_sentences} is refused")
    count = max(2, int(STREAM * session.budget.left_s * limits.stream_rate_per_s))
    times = [place / limits.stream_rate_per_s for place in range(count)]
    return session.sender.stream(route, times, limits.connections)
