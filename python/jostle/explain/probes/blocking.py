"""P4: which requests wait behind which. A light open stream of each route while clients ask for another route
back to back.

The stream is open, so that a blocked request does not delay the next one: a closed client would see a single
blocked request where users see many."""

import statistics
from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, found
from jostle.explain.light import LIGHT, poisson
from jostle.explain.reason import Reason
from jostle.explain.results import InterferenceCell
from jostle.explain.send import MAX_EXCESS, BackgroundLoad
from jostle.explain.session import Baseline, Session
from jostle.formatting import amount, plural

__all__ = ["SHORTER", "blocking", "verdict"]

SHORTER = 1 / 3
"""For waiting to be noticeable, the short request must take at most this fraction of the long one's time."""

STREAM_PER_S = 25.0
"""The highest rate of the stream, so that only few of its requests are due while one long request runs."""

CELL, MAX_CELL = 1 / 90, 1 / 36
"""Shares of the time allowed for one stream: of a short route, and at most."""

KEPT = 1 / 6
"""Share of the time allowed that is kept for later probes."""

MIN_REQUESTS = 10

WAITS, FREE = 0.7, 0.1
"""Added time as a share of what waiting for one of the others to end would add. A request waits for them if
its 90th percentile reaches the first share; it does not if its mean stays within the second.
"""

SLOWEST_SHARE = 0.1
"""The share of requests above the 90th percentile."""


def blocking(session: Session) -> Finding:
    """Fills the matrix of routes, and finds out whether the short one waits for the long one."""
    topic = Topic.BLOCKING
    routes = list(session.alone.values())
    slow, fast = session.slow, min(routes, key=lambda one: one.demand_s, default=None)
    if slow is None or fast is None or len(routes) < 2:
        return cannot_tell(
            topic,
            Reason.NO_ROUTE,
            "only one route is known",
            "a second route that takes much longer: --slow PATH",
        )
    if fast.demand_s > SHORTER * slow.demand_s:
        return cannot_tell(
            topic,
            Reason.EQUAL_TIMES,
            f"all routes take about the same time ({amount(fast.demand_s, 's')} and "
            f"{amount(slow.demand_s, 's')})",
            "a route that takes much longer: --slow PATH",
        )
    chosen = _distinct(routes, fast, slow)
    clients = max(1, min(round(session.parallelism or 4), session.limits.connections // 2))
    most_per_s = MAX_EXCESS * session.limits.rate_per_s
    besides = [one for one in chosen if one is not fast and clients / one.demand_s <= most_per_s]
    busy_per_s = clients / slow.demand_s
    if busy_per_s > most_per_s:
        return cannot_tell(
            topic,
            Reason.TOO_FAST,
            f"it takes {amount(busy_per_s, '/s')} to keep {plural(clients, 'worker')} busy with "
            f"{slow.route.name}, and "
            f"{amount(session.limits.rate_per_s, '/s')} are allowed",
            "a route that takes longer: --slow PATH; or --thorough",
        )
    refused_before = session.refusals
    cells = [(one, beside, clients if beside else 0) for one in chosen for beside in (None, *besides)]
    if clients > 1:
        cells.append((fast, slow, 1))
    for one, beside, count in cells:
        if session.budget.left_s < KEPT * session.limits.seconds:
            break
        if beside is None:
            session.tell(f"how long {one.route.asked} takes beside others")
        cell = _cell(session, one, beside, count)
        if session.sender.stopped:
            return cannot_tell(
                topic,
                Reason.REFUSED,
                f"beside {one.route.name} more requests were answered at once than may be sent; they may "
                "have been refused",
                "a server without a limit for the time of the probe, or --thorough",
            )
        session.interference.append(cell)
    if session.refusals > refused_before:
        return cannot_tell(
            topic,
            Reason.REFUSED,
            f"{plural(session.refusals - refused_before, 'request')} were refused meanwhile",
            "a server without a limit for the time of the probe",
            [_line(cell, session) for cell in session.interference if cell.beside],
        )
    return _finding(session, fast, slow, clients)


def _distinct(routes: Sequence[Baseline], fast: Baseline, slow: Baseline) -> list[Baseline]:
    """The shortest route, the longest that computes, and one that waits, if there is one."""
    waiting = [one for one in routes if one.route.role == "wait"]
    return list(dict.fromkeys([fast, slow, *waiting[:1]]))


def _cell(session: Session, one: Baseline, beside: Baseline | None, clients: int) -> InterferenceCell:
    """Measures `one` in a light stream while `clients` clients ask for `beside`."""
    allowed_s = session.limits.seconds
    rate = min(STREAM_PER_S, LIGHT / one.demand_s)
    length_s = min(MAX_CELL * allowed_s, max(CELL * allowed_s, 2 * MIN_REQUESTS / rate))
    times = poisson(rate, length_s, seed=len(session.interference))
    others = BackgroundLoad(beside.route, clients) if beside else None
    responses = session.sender.stream(one.route, times, max(1, session.limits.connections - clients), others)
    session.refusals += sum(response.refused for response in responses)
    took = sorted(response.response_s for response in responses if response.response_s is not None)
    return InterferenceCell(
        route=one.route.name,
        beside=beside.route.name if beside else "",
        clients=clients,
        n=len(took),
        median_s=statistics.median(took) if took else None,
        p90_s=took[int(0.9 * (len(took) - 1))] if took else None,
        mean_s=statistics.fmean(took) if took else None,
    )


def verdict(mean_s: float, p90_s: float, demand_s: float, clients: int, at_once: float) -> str:
    """Whether a request whose time grows by `mean_s` on average, and by `p90_s` at the 90th percentile, waits
    for others that take `demand_s`: "waits", "free" or "partly".

    If all workers are taken, each for `demand_s` and begun at random times, the first of them is free after
    `demand_s` · (1 − u^(1 / `clients`)) with u uniform: `demand_s` / (`clients` + 1) on average. With a
    server that slices, a request waits for a slice, which has the same length every time; so the longest
    waits decide. If some workers remain free, no request waits."""
    expected_s = demand_s / (clients + 1)
    expected_p90_s = demand_s * (1 - SLOWEST_SHARE ** (1 / clients))
    if clients >= at_once and p90_s >= WAITS * expected_p90_s and mean_s >= WAITS / 2 * expected_s:
        return "waits"
    return "free" if mean_s <= FREE * expected_s else "partly"


UNSTEADY, FINEST_S = 5.0, 0.0005
"""If the mean of the short route by itself exceeds this many times its median (or this many times the second
value, if that is longer), the machine dominates the times.
"""

IN_STREAM = {
    "waits": "they wait for them",
    "free": "they do not wait",
    "partly": "they wait for a part of one",
}


def _finding(session: Session, fast: Baseline, slow: Baseline, clients: int) -> Finding:
    topic = Topic.BLOCKING
    cells = {(c.route, c.beside, c.clients): c for c in session.interference}
    alone, beside = (
        cells.get((fast.route.name, "", 0)),
        cells.get((fast.route.name, slow.route.name, clients)),
    )
    evidence = [_line(cell, session) for cell in session.interference if cell.beside]
    if alone is None or beside is None:
        return cannot_tell(
            topic, Reason.NO_TIME, "there was no time left for it", "a larger --budget", evidence
        )
    if alone.mean_s is None or beside.mean_s is None or min(alone.n, beside.n) < MIN_REQUESTS:
        return cannot_tell(
            topic,
            Reason.REFUSED if session.refusals else Reason.FAILED,
            f"too few requests for {fast.route.name} were answered beside {slow.route.name}",
            "a lower rate, or a longer --timeout",
            evidence,
        )
    if alone.mean_s > UNSTEADY * max(alone.median_s or 0.0, FINEST_S):
        return cannot_tell(
            topic,
            Reason.NOISY,
            f"{fast.route.name} takes {amount(alone.mean_s, 's')} on average by itself, and "
            f"{amount(alone.median_s, 's')} in the median",
            "a quieter machine",
            evidence,
        )
    added = max(0.0, beside.mean_s - alone.mean_s)
    longest = max(0.0, (beside.p90_s or 0.0) - (alone.p90_s or 0.0))
    figure = Estimate(added, n=beside.n)
    who = f"{plural(clients, 'request')} for {slow.route.name}"
    says = verdict(added, longest, slow.demand_s, clients, session.parallelism or clients)
    if session.overtaking is not None and session.overtaking == (says == "waits"):
        return cannot_tell(
            topic,
            Reason.AMBIGUOUS,
            f"in bursts short requests {'overtake' if session.overtaking else 'do not overtake'} long "
            f"ones, and in the stream {IN_STREAM[says]}",
            "a quieter machine; more or longer requests",
            evidence,
            {"added": figure},
        )
    match says:
        case "waits":
            text = (
                f"Short requests wait for long ones: beside {who}, {fast.route.name} takes "
                f"{amount(added, 's')} "
                "longer on average."
            )
        case "free":
            longer = (
                f"takes {amount(added, 's')} longer on average"
                if added > fast.demand_s / 10
                else "takes no longer"
            )
            full = session.most_at_once is not None and clients >= session.most_at_once
            longer += "" if full else "; the server may have had room for both"
            text = f"Short requests do not wait for long ones: beside {who}, {fast.route.name} {longer}."
        case _:
            text = (
                f"Short requests wait for a part of a long one: beside {who}, {fast.route.name} takes "
                f"{amount(added, 's')} longer on average, where {slow.route.name} takes "
                f"{amount(slow.demand_s, 's')}."
            )
    return found(topic, text, evidence, {"added": figure})


def _line(cell: InterferenceCell, session: Session) -> str:
    alone = next(
        (
            c
            for c in session.interference
            if c.route == cell.route and not c.beside and c.median_s is not None
        ),
        None,
    )
    if alone is None or cell.median_s is None or alone.median_s is None:
        return f"{cell.route} beside {cell.clients} × {cell.beside}: no responses."
    return (
        f"{cell.route}: median {amount(alone.median_s, 's')} by itself, {amount(cell.median_s, 's')} "
        f"beside {cell.clients} × "
        f"{cell.beside} ({plural(cell.n, 'request')})."
    )
