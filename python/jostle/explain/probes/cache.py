"""A cache: the same request twice. Each pair has a query of its own, so that its first request is new."""

import statistics
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from jostle.analysis.results import Estimate
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import from_values
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, felt_s
from jostle.explain.reason import Reason
from jostle.explain.send import Due
from jostle.explain.server.routes import SIZED_BY
from jostle.explain.server.target import Route
from jostle.explain.session import Session
from jostle.formatting import amount, plural, with_range

__all__ = ["asked_anew", "cache"]

PAIRS = 8

FASTER, ALIKE = 0.6, 0.85
"""Time of the second request over the first: up to the first value it came from a cache, from the second
value on it did not.
"""

NEARLY_ALL = 0.8


def asked_anew(route: Route, number: int) -> Route:
    """The route with a query that has not been used before: another number where it has one, or else a
    parameter more.
    """
    path, _, query = route.path.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    for place, (name, value) in enumerate(pairs):
        if value.isdecimal() and name not in SIZED_BY:
            pairs[place] = (name, str(int(value) + number))
            return replace(route, path=f"{path}?{urlencode(pairs)}")
    return replace(route, path=f"{route.path}{'&' if '?' in route.path else '?'}jostle={number}")


def _has_number(route: Route) -> bool:
    return asked_anew(route, 1).path.partition("?")[2].count("jostle") == 0


def cache(session: Session) -> Finding:
    """Asks in pairs for the longest route that the time allows."""
    topic = Topic.CACHE
    affordable = [
        alone
        for alone in session.alone.values()
        if 4 * PAIRS * max(alone.demand_s, 1 / session.budget.rate_per_s) <= session.budget.left_s
    ]
    if not affordable:
        return cannot_tell(topic, Reason.TOO_SLOW, "every route takes too long for it", "a shorter route")
    chosen = max(affordable, key=lambda alone: (alone.route.role != "wait", alone.demand_s))
    if (kept := next((alone for alone in affordable if _has_number(alone.route)), None)) is not None:
        chosen = kept  # a number names one of many things, each of which may be kept
    step = max(2 * chosen.demand_s, 1 / session.budget.rate_per_s)
    session.tell(f"whether a second {chosen.route.in_sentences} is answered from a cache")
    due = [
        Due((2 * pair + turn) * step, asked_anew(chosen.route, _seed(session) + pair), 0)
        for pair in range(PAIRS)
        for turn in (0, 1)
    ]
    responses = session.sender.burst(due, chosen.route, chosen.demand_s)
    times = [response.service_s for response in responses]
    pairs = [(a, b) for a, b in zip(times[::2], times[1::2], strict=False) if a is not None and b is not None]
    if len(pairs) < PAIRS:
        return cannot_tell(
            topic,
            Reason.FAILED,
            f"{chosen.route.name} does not answer with a query that it does not know",
            "a route that takes any query",
        )
    ratios = [b / a for a, b in pairs]
    ratio = statistics.median(ratios)
    first = quantile_estimate(from_values([a for a, _ in pairs]), 0.5)
    second = quantile_estimate(from_values([b for _, b in pairs]), 0.5)
    evidence = [
        f"{plural(PAIRS, 'pair')} of requests for {chosen.route.name}: first "
        f"{amount(statistics.median(a for a, _ in pairs), 's')}, second "
        f"{amount(statistics.median(b for _, b in pairs), 's')} (medians)."
    ]
    figure = Estimate(ratio, unit="times", n=PAIRS)
    if sum(r <= FASTER for r in ratios) >= NEARLY_ALL * PAIRS:
        return decided_finding(
            topic,
            f"The first request for a new {chosen.route.name} takes {with_range(first)}, a second one for "
            f"the same {with_range(second)}: it is cached, and a cold cache is felt.",
            evidence,
            figures={"second over first": figure, "first": first, "second": second},
            hurts_s=felt_s((first.value or 0.0) - (second.value or 0.0)),
            cure="Fill it before requests come.",
        )
    if ratio >= ALIKE:
        return decided_finding(
            topic,
            f"A second request for the same {chosen.route.name} takes as long as the first.",
            evidence,
            absent="a cache",
            figures={"second over first": figure},
        )
    return cannot_tell(
        topic,
        Reason.NOISY,
        "the second request is sometimes faster and sometimes not",
        "a longer route, or a quieter machine",
        evidence,
        figures={"second over first": figure},
    )


def _seed(session: Session) -> int:
    """The first query number, which differs between explanations so that queries are not repeated."""
    return int(session.budget.began * 1000) % 1_000_000_000
