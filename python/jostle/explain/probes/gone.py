"""Whether the server goes on working for clients that have gone: many requests at once, all given up early,
and the CPU time that the server nevertheless spends on them."""

import math

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding
from jostle.explain.reason import Reason
from jostle.explain.session import COMPUTES, Baseline, Session
from jostle.formatting import amount, plural

__all__ = ["gone", "verdict"]

WORK_S = 1.5
"""Total service time of all requests: enough to measure, as CPU time is counted in hundredths of a second."""

MIN_REQUESTS = 8
"""The least number of requests, so that those already done or begun when the clients go are a small part."""

PATIENCE = 2.0
"""The clients go after this many service times; the server has begun to work by then."""

MARGIN = 1.5
"""The server is watched for this many times as long as the work would take."""

GOES_ON, STOPS = 0.8, 0.3
"""Shares of the remaining work that the server did after the clients went: from the first on it goes on
working, up to the second it drops the work."""


def gone(session: Session) -> Finding:
    """Asks for the slow route, gives up, and watches the server's CPU time."""
    topic, slow, usage = Topic.GONE, session.slow, session.target.usage
    if usage is None:
        return cannot_tell(
            topic,
            Reason.NOT_OURS,
            "jostle did not start the server and does not know its process, whose CPU time would tell",
            "its process, if the server runs on this machine",
            option="--pid PID" if session.target.is_local else "",
        )
    if slow is None or slow.cpu_share is None or slow.cpu_share + (slow.queued_share or 0.0) < COMPUTES:
        return cannot_tell(
            topic,
            Reason.NO_ROUTE,
            "no route is known that computes for long",
            "a route that computes for longer",
            option="--slow PATH",
        )
    count = min(session.limits.connections, math.ceil(WORK_S / slow.demand_s))
    watched_s = PATIENCE * slow.demand_s + MARGIN * count * slow.demand_s
    if count < MIN_REQUESTS:
        return cannot_tell(
            topic,
            Reason.TOO_SLOW,
            f"{slow.route.name} takes {amount(slow.demand_s, 's')}: too few of it can be asked for",
            "a shorter route",
            option="--slow PATH",
        )
    session.budget.need(watched_s)
    session.tell(
        f"whether it works for clients that have gone: {count} × {slow.route.in_sentences}, given up"
    )
    before_s = usage().cpu_s
    session.sender.give_up(slow.route, count, PATIENCE * slow.demand_s, watched_s)
    return verdict(slow, count, session.parallelism or 1.0, usage().cpu_s - before_s)


def verdict(slow: Baseline, count: int, at_once: float, cpu_s: float) -> Finding:
    """The finding for a server that can serve `at_once` requests at a time and spent `cpu_s` of CPU time on
    `count` requests that were given up after `PATIENCE` service times."""
    topic = Topic.GONE
    each_s = slow.demand_s * (slow.cpu_share or 1.0)
    done = min(count, PATIENCE * at_once)
    share = (cpu_s / each_s - done) / (count - done) if count > done else math.nan
    evidence = [
        f"{plural(count, 'request')} for {slow.route.name} at once, given up after "
        f"{amount(PATIENCE * slow.demand_s, 's')}: the server computed for {amount(cpu_s, 's')}, and all of "
        f"them together take {amount(count * each_s, 's')}."
    ]
    if count <= 2 * done:
        return cannot_tell(
            topic,
            Reason.NOT_SATURATED,
            "the server works at so many requests at once that hardly any was left",
            "more requests at once",
            evidence,
            option="--thorough",
        )
    figure = {"share": Estimate(min(1.0, max(0.0, share)), unit="share", n=count)}
    if share >= GOES_ON:
        text = (
            "It goes on working at requests whose clients have gone: a client that retries doubles its work."
        )
        return decided_finding(topic, text, evidence, figure)
    if share <= STOPS:
        return decided_finding(
            topic,
            "It drops requests whose clients have gone.",
            evidence,
            figure,
        )
    return cannot_tell(
        topic,
        Reason.AMBIGUOUS,
        f"it did {amount(share, 'share')} of the work that was left when the clients went",
        "the source of the server: which of the requests it drops",
        evidence,
        figure,
    )
