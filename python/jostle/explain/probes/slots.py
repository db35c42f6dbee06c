"""P2: how many requests of each route are served at a time, and which routes share such a limit. Bursts of 2,
4, 8, … equal requests of every route that takes long enough.

With w slots, a burst of k is answered in groups of w, one service time apart; without a limit all are
answered at the same time. Routes whose requests wait for each other, and for nobody else, share a pool or a
lock.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from jostle.analysis.results import Estimate
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import from_values
from jostle.explain.discipline import design
from jostle.explain.discipline.burst import Job
from jostle.explain.discipline.inference import Decision, Range, slots_of
from jostle.explain.finding import (
    Finding,
    Topic,
    cannot_tell,
    decided_finding,
    felt_s,
    out_of_time,
    undecided,
)
from jostle.explain.probes.parallelism import MIN_S, count_estimate, how_many
from jostle.explain.probes.shedding import refusing, settle
from jostle.explain.reason import Reason
from jostle.explain.results import SentBurst
from jostle.explain.session import Baseline, Session, equal_probe
from jostle.explain.words import count
from jostle.formatting import amount, listed, with_range

__all__ = ["send_bursts", "send_pairs", "slots"]

REPEATS = 3

MAX_SHARED = 8
"""Routes with more slots than this are not asked together."""

MIN_PAIR_REQUESTS = 4
"""Two routes are asked together for this many requests at least."""

DISTINCT = 1.2
"""A burst of both routes tells nothing if shared slots would not make it longer by this factor."""

MIN_STEPS, IN_PART = 6, 0.85
"""From so many steps of the staircase on, the wait is as long as they are, if they are shorter than this
share of the time that a request takes by itself.
"""

UNSHARED, SHARED = 0.35, 0.65
"""Where the time of such a burst lies between what slots of their own and shared ones would make it."""


def pair_of(one: str, other: str) -> str:
    """The name of the bursts of two routes."""
    return f"together {one} {other}"


def burst_routes(session: Session) -> list[Baseline]:
    """The routes that are long enough for bursts, the longest first."""
    long = [one for one in session.alone.values() if one.demand_s - session.delay_s >= MIN_S]
    return sorted(long, key=lambda one: -one.demand_s)


def max_burst(session: Session, route: Baseline, routes: int) -> int:
    """The largest burst that the limits allow, and that fits into the time if requests are served one by one
    and each of so many routes has an equal part.
    """
    part_s = session.budget.left_s / max(1, routes)
    return min(session.limits.connections, int(part_s / (2 * REPEATS * route.demand_s)))


def send_bursts(session: Session) -> None:
    """Sends the bursts of every route, those of all routes in turn, as far as there is time."""
    routes = burst_routes(session)
    for place, route in enumerate(routes):
        largest = max_burst(session, route, len(routes) - place)
        if largest < 4:
            continue
        session.tell(f"how many requests for {route.route.name} are served at a time")
        for _ in range(REPEATS):
            for jobs in design.equal_bursts(route.demand_s, largest)[1:]:
                sent = session.send_jobs(equal_probe(route.route.name), jobs, {route.demand_s: route.route})
                if any(response.refused for response in sent):
                    settle(session, route)


def send_pairs(session: Session) -> None:
    """Sends bursts of two routes each that have the same number of slots."""
    known = {
        name: round(number.low)
        for name, number in session.slots.items()
        if number.high is not None and number.low == number.high <= MAX_SHARED
    }
    for one, other in combinations(known, 2):
        n = known[one]
        if n != known[other] or 2 * n > session.limits.connections:
            continue
        first, second = session.alone[one], session.alone[other]
        session.tell(f"whether {one} and {other} wait for the same")
        many = max(2 * n, MIN_PAIR_REQUESTS)
        jobs = [Job(0.0, route.demand_s, k) for k in range(many) for route in ((first, second)[k % 2],)]
        for _ in range(REPEATS):
            routes = {first.demand_s: first.route, second.demand_s: second.route}
            session.send_jobs(pair_of(one, other), tuple(jobs), routes)
        session.shared[one, other] = _shared(session, one, other, n)


def _shared(session: Session, one: str, other: str, n: int) -> bool | None:
    """Whether a burst of both took as long as if all of it waited for the same `n` slots, or for `n` of each
    route's own. In which order they came does not matter.
    """
    bursts = session.observed(pair_of(one, other))
    lasts = [max(filter(None, burst.ends)) for burst in bursts if burst.ends and None not in burst.ends]
    if not lasts:
        return None
    demands = [job.demand for job in bursts[0].jobs]
    together_s = max(*demands, sum(demands) / n)
    apart_s = max(math.ceil(demands.count(each) / n) * each for each in set(demands))
    if together_s < DISTINCT * apart_s:
        return None
    share = math.log(statistics.median(lasts) / apart_s) / math.log(together_s / apart_s)
    return None if UNSHARED < share < SHARED else share >= SHARED


def decide(session: Session) -> None:
    """Keeps in the session how many requests of each route are served at a time, as far as that is known."""
    for route in burst_routes(session):
        bursts = session.observed(equal_probe(route.route.name))
        number = slots_of(bursts, route.spread) if bursts else Decision[Range](reason=Reason.NO_TIME)
        session.slots_of[route.route.name] = number


def slots(session: Session) -> list[Finding]:
    """A finding for each route, or why there is none."""
    routes = burst_routes(session)
    if not routes:
        return [_too_short(session)]
    findings = []
    for place, route in enumerate(routes):
        one = _finding(session, route)
        if _told_before(session, routes[:place], route):
            one = replace(one, notable=False, hurts_s=0.0)
        findings.append(one)
    return findings


def _told_before(session: Session, before: Sequence[Baseline], route: Baseline) -> bool:
    """Whether the sentence about an earlier route already names this one."""
    return any(route.route.name in _sharing(session, one.route.name) for one in before)


def _sharing(session: Session, name: str) -> list[str]:
    """The other routes that wait for the same."""
    return [
        next(iter({*pair} - {name})) for pair, shared in session.shared.items() if shared and name in pair
    ]


def _too_short(session: Session) -> Finding:
    longest = max(session.alone.values(), key=lambda one: one.demand_s)
    return cannot_tell(
        Topic.SLOTS,
        Reason.TOO_FAST,
        f"{longest.route.name} takes {amount(longest.demand_s, 's')}, and a burst takes about as long to "
        "send",
        f"a route that takes {amount(MIN_S, 's')} or more",
        option="--slow PATH",
    )


def _finding(session: Session, route: Baseline) -> Finding:
    topic, name = Topic.SLOTS, route.route.name
    bursts = [burst for burst in session.bursts if burst.probe == equal_probe(name)]
    if not bursts:
        return out_of_time(topic)
    evidence = [_line(bursts, route)]
    if (held := session.held(equal_probe(name))) is not None:
        return refusing(session, route, held, evidence)
    number = session.slots_of[name]
    if number.value is None:
        return undecided(topic, number.reason, evidence)
    figure = {"slots": count_estimate(number.value)}
    if number.value.high is None:
        text = f"{how_many(number.value)} requests for {name} are served at a time."
        return decided_finding(
            topic, text, evidence, figure, absent=f"a limit of {name} below {number.value.low:.0f} at a time"
        )
    return _limited(session, route, number.value, evidence)


def _limited(session: Session, route: Baseline, number: Range, evidence: list[str]) -> Finding:
    """The sentence about a limit; it is a fault of the route if other routes go on meanwhile."""
    name, low, high = route.route.name, int(number.low), int(number.high or number.low)
    exact = low == high
    many = count(low) if exact else f"{count(low)} to {count(high)}"
    nth = f"The {ORDINALS[low + 1]}" if exact and low + 1 in ORDINALS else "A further one"
    wait = _wait(session, name, low) if exact else session.service(name)
    text = f"{name}: {many} at a time. {nth} waits {with_range(wait)}"
    figures = {"slots": count_estimate(number), "wait": wait}
    cores = session.target.cores
    if route.computes and (cores is None or low <= cores):
        text = f"{name}: as many at a time as there are cores for it ({how_many(number)}), as it computes."
        return decided_finding(Topic.SLOTS, text, evidence, figures, notable=False)
    own = session.free_beside(name)
    if own:
        limit = "a lock, or a pool of 1" if low == high == 1 else f"a pool of {low}" if exact else "a pool"
        text += f", while other routes go on: as with {limit} behind it"
    if sharing := _sharing(session, name):
        share = f"{listed(sharing)} share{'s' if len(sharing) == 1 else ''}"
        text += f", which {share}" if own else f", and {share} that limit"
    text += "."
    hurts_s = wait.value or 0.0
    if own is False:  # all routes wait alike, and the findings about the server's workers say so of all
        return decided_finding(Topic.SLOTS, text, evidence, figures, notable=False)
    hurts_s = hurts_s if own else felt_s(hurts_s)
    cure = _cure(high) if own else "Serve more at a time, or make each shorter."
    if not sharing:
        cure = f"Above {with_range(_capacity(low, high, wait))} requests queue. {cure}"
    return decided_finding(Topic.SLOTS, text, evidence, figures, hurts_s=hurts_s, cure=cure)


def _wait(session: Session, name: str, slots: int) -> Estimate:
    """For how long the first one waits that finds no slot: as long as a request takes by itself, unless it
    holds its slot for a part of that time only. Then the steps of the staircase are shorter.
    """
    service, steps_s = session.service(name), []
    for burst in session.observed(equal_probe(name)):
        ends = sorted(end for end in burst.ends if end is not None)
        if len(ends) == len(burst.jobs):
            lasts = ends[slots - 1 :: slots]
            steps_s += [second - first for first, second in pairwise(lasts)]
    if len(steps_s) < MIN_STEPS:
        return service
    step = quantile_estimate(from_values(steps_s), 0.5)
    return step if (step.value or 0.0) < IN_PART * (service.value or 0.0) else service


def _cure(slots: int) -> str:
    return "Hold it for less time." if slots == 1 else "Enlarge the pool, or hold its slots for less time."


def _capacity(low: int, high: int, wait: Estimate) -> Estimate:
    """How many requests a second such a limit lets through, if this route alone needs it."""
    assert wait.value is not None
    slowest, quickest = wait.high or wait.value, wait.low or wait.value
    return Estimate((low + high) / 2 / wait.value, low / slowest, high / quickest, "/s", n=wait.n)


ORDINALS = {
    2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth",
    10: "tenth", 11: "eleventh", 12: "twelfth",
}  # fmt: skip


def _line(bursts: Sequence[SentBurst], route: Baseline) -> str:
    largest = max(bursts, key=lambda burst: len(burst.jobs))
    ends = sorted(job.end_s for job in largest.jobs if job.end_s is not None)
    if not ends:
        return f"None of {len(largest.jobs)} requests for {route.route.name} at once was answered."
    step = max(1, len(ends) // 8)
    some = "" if len(ends) == len(largest.jobs) else f"{len(ends)} of "
    return (
        f"{some}{len(largest.jobs)} requests for {route.route.name} at once were answered "
        + (f"(times listed for one in {step}) after " if step > 1 else "after ")
        + ", ".join(amount(end, "s") for end in ends[::step])
        + f"; one by itself takes {amount(route.demand_s, 's')}."
    )
