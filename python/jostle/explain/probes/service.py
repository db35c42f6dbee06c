"""P0: how long a request takes when no other is sent, how much this varies, and whether the time goes into
computing or waiting.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from jostle.analysis.results import Estimate
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import from_values
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding
from jostle.explain.reason import Reason
from jostle.explain.send import Response, median_service_s
from jostle.explain.server.routes import smaller
from jostle.explain.server.target import Route
from jostle.explain.session import Baseline, Session
from jostle.formatting import amount, formatted, percent, plural, with_range

__all__ = ["cpu_or_waiting", "measured_again", "robust_spread", "service_time"]

MIN_REQUESTS, MAX_REQUESTS = 10, 40
"""How many requests of a route are sent: at least enough for an interval of the median, and at most."""

ROUTE, WARM = 1 / 60, 1 / 60
"""Shares of the time allowed: for measuring one route, and for warming it up."""

WAITS = 0.3
"""Up to this share of its service time in which the server's CPU was busy a route waits."""

FLAT = 0.05
"""Two batches of requests whose medians differ by less than this take the same time."""

WHOLLY = 0.9
"""From this share on the route is said to compute all the time."""

QUEUED = 0.1
"""If the server waited for a core for more than this share of the time, the machine is too busy to tell."""

AGAIN, AT_A_TIME, MIN_TURNS = 1 / 60, 2, 4
"""For measuring again: the share of the time allowed, the requests of a route in a row, and the least number
of turns.
"""

MIN_CPU_S = 0.2
"""Total service time that gives the CPU share to within a tenth, as CPU time is counted in hundredths of a
second.
"""


def robust_spread(times_s: Sequence[float]) -> float:
    """Standard deviation over the median, estimated from the median absolute deviation, so that a single
    stall does not matter.
    """
    middle = statistics.median(times_s)
    return 1.4826 * statistics.median(abs(t - middle) for t in times_s) / middle if middle > 0 else 0.0


def spread_from_one_to_the_next(times_s: Sequence[float]) -> float:
    """The same, estimated from differences between successive requests, which a slow change of the machine's
    speed hardly affects.
    """
    logs = [math.log(time) for time in times_s if time > 0]
    if len(logs) < 2:
        return robust_spread(times_s)
    return 1.4826 * statistics.median(abs(b - a) for a, b in pairwise(logs)) / math.sqrt(2)


def _warmed(session: Session, route: Route) -> list[Response]:
    """Sends requests from a cold start until two successive batches take the same time, or time is over."""
    responses = session.sender.serial(route, 2, session.pause_s(route))
    before = median_service_s(responses[1:])
    if before is None:
        return responses
    count = max(3, min(10, int(0.5 / max(before, 1 / session.budget.rate_per_s))))
    began = session.budget.now()
    while session.budget.now() - began < WARM * session.limits.seconds:
        batch = session.sender.serial(route, count, session.pause_s(route))
        responses += batch
        now = median_service_s(batch)
        if now is None or abs(now / before - 1) < FLAT:
            break
        before = now
    return responses


def service_time(session: Session, route: Route) -> Finding:
    """Asks for `route` one request at a time, and records its service time in `session.alone`."""
    session.tell(f"how long {route.in_sentences} takes by itself")
    warm = _warmed(session, route)
    times = [response.service_s for response in warm if response.service_s is not None]
    if not times:
        session.served[route.name] = warm
        session.note(warm)
        return cannot_tell(
            Topic.SERVICE_TIME,
            Reason.REFUSED if any(response.refused for response in warm) else Reason.FAILED,
            f"no request for {route.name} was answered ({_outcomes(warm)})",
            "a route that answers 200",
        )
    each_s = max(times[-1], 1 / session.budget.rate_per_s)
    count = max(MIN_REQUESTS, min(MAX_REQUESTS, int(ROUTE * session.limits.seconds / each_s)))
    usage = session.target.usage
    before = usage() if usage else None
    responses = session.sender.serial(route, count, session.pause_s(route))
    after = usage() if usage else None
    session.served[route.name] = warm + responses
    session.note(session.served[route.name])
    times = [response.service_s for response in responses if response.service_s is not None]
    failed = len(responses) - len(times)
    if not times or failed > len(responses) / 10:
        return cannot_tell(
            Topic.SERVICE_TIME,
            Reason.REFUSED if any(response.refused for response in responses) else Reason.FAILED,
            f"{failed} of {len(responses)} requests for {route.name} failed ({_outcomes(responses)})",
            "a route that is answered every time it is asked for",
        )
    median, spread = statistics.median(times), robust_spread(times)
    cpu = queued = None
    if before is not None and after is not None and sum(times) >= MIN_CPU_S:
        cpu = min(1.0, (after.cpu_s - before.cpu_s) / sum(times))
        queued = min(1.0, (after.waited_s - before.waited_s) / sum(times))
    session.alone[route.name] = Baseline(
        route,
        median,
        spread_from_one_to_the_next(times),
        cpu,
        queued,
        quantile_estimate(from_values(times), 0.5),
    )
    return _finding(route, times, spread)


def _finding(route: Route, times: Sequence[float], spread: float) -> Finding:
    estimate = quantile_estimate(from_values(times), 0.5)
    longest = max(times)
    return decided_finding(
        Topic.SERVICE_TIME,
        f"{route.in_sentences} takes {with_range(estimate)}.",
        [
            f"{plural(len(times), 'request')} for {route.in_sentences}, one at a time: median "
            f"{formatted(estimate)}, "
            f"spread {percent(spread)}, longest {amount(longest, 's')}."
        ],
        {
            "median": estimate,
            "spread": Estimate(spread, unit="share", n=len(times)),
            "longest": Estimate(longest, n=len(times)),
        },
    )


def parts(session: Session) -> Iterator[Finding]:
    """If there is one length of request only, measures the same route with smaller parameters, so that the
    order of service can be asked for; keeps those that take less in `session.parts`.
    """
    slow = session.slow
    if slow is None or sum(one.route.role == "slow" for one in session.alone.values()) > 1:
        return
    for route in smaller(slow.route):
        session.tell(f"whether {route.in_sentences} takes less than {slow.route.in_sentences}")
        times = session.sender.serial(route, MIN_REQUESTS, session.pause_s(slow.route))
        took = median_service_s(times)
        if took is not None and took <= LESS * min(one.demand_s for one in [slow, *session.parts.values()]):
            spread = robust_spread([one.service_s for one in times if one.service_s is not None])
            session.parts[route.name] = Baseline(route, took, spread)
    yield from ()


LESS = 0.75
"""A request with a smaller parameter takes this share of the time at most, or its parameter is no size."""


def _outcomes(responses: Sequence[Response]) -> str:
    kinds = [f"status {a.status}" if a.status else str(a.outcome) for a in responses if not a.ok]
    return ", ".join(f"{kinds.count(kind)} × {kind}" for kind in dict.fromkeys(kinds))


def cpu_or_waiting(session: Session) -> Finding:
    """Whether the slow route spends its time computing or waiting for something else."""
    slow = session.slow
    if slow is None:
        return cannot_tell(Topic.CPU, Reason.FAILED, "no route was answered", "a route that answers 200")
    if session.target.usage is None:
        return cannot_tell(
            Topic.CPU,
            Reason.NOT_OURS,
            "jostle did not start the server and does not know its process, whose CPU time would tell",
            "its process, if the server runs on this machine",
            option="--pid PID" if session.target.is_local else "",
        )
    if slow.cpu_share is None:
        return cannot_tell(
            Topic.CPU,
            Reason.TOO_FAST,
            f"all requests of {slow.route.name} together took less than {amount(MIN_CPU_S, 's')}, and "
            f"CPU time is "
            "counted in hundredths of a second",
            "a longer route",
            option="--slow PATH",
        )
    share, queued = slow.cpu_share, slow.queued_share or 0.0
    evidence = [
        f"While {slow.route.name} was asked for one request at a time, the server's processes used "
        f"{amount(share, 'share')} of a core."
    ]
    figure = Estimate(share, unit="share")
    if queued > QUEUED and not slow.computes:
        return cannot_tell(
            Topic.CPU,
            Reason.NOISY,
            f"the server was ready to compute and had no core for {amount(queued, 'share')} of the time",
            "a machine on which nothing else runs",
            evidence,
            {"share": figure},
        )
    if slow.computes:
        return decided_finding(
            Topic.CPU,
            f"{slow.route.in_sentences} computes for {'all' if share >= WHOLLY else 'most'} of its time.",
            evidence,
            {"share": figure},
        )
    if share <= WAITS:
        return decided_finding(
            Topic.CPU,
            f"{slow.route.in_sentences} waits for most of its time: the CPU is busy for "
            f"{amount(share, 'share')} of it.",
            evidence,
            figures={"share": figure},
        )
    return decided_finding(
        Topic.CPU,
        f"{slow.route.in_sentences} computes for {amount(share, 'share')} of its time and waits for the "
        "rest.",
        evidence,
        figures={"share": figure},
    )


def measured_again(session: Session) -> None:
    """Measures the routes that compute once more: a runtime that compiles while it runs is faster by now.

    The routes take turns with a few requests each, so that a change of the machine's speed affects all of
    them and their ratios remain.
    """
    again = [alone for alone in session.sizes.values() if alone.route.role != "wait"]
    session.tell(f"whether {', '.join(alone.route.in_sentences for alone in again)} still take as long")
    round_s = AT_A_TIME * sum(max(one.demand_s, 1 / session.budget.rate_per_s) for one in again)
    rounds = max(MIN_TURNS, min(MIN_REQUESTS, int(AGAIN * session.limits.seconds / round_s)))
    responses: dict[str, list[Response]] = {alone.route.name: [] for alone in again}
    for _ in range(rounds):
        for alone in again:
            responses[alone.route.name] += session.sender.serial(
                alone.route, AT_A_TIME, session.pause_s(alone.route)
            )
    for alone in again:
        if (now := median_service_s(responses[alone.route.name])) is not None:
            known = session.parts if alone.route.name in session.parts else session.alone
            known[alone.route.name] = replace(alone, demand_s=now)
