"""P4: which requests wait behind which. The light stream shows who waits for a single request of another
route; a stream of the shortest route, beside clients that ask for another one back to back, who waits for
several. Where that would be too many requests, bursts of the other route show it, and one of the shortest
amid each.

The stream is open, so that a blocked request does not delay the next one: a closed client would see a single
blocked request where users see many.
"""

import math
import random
import statistics
from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, felt_s, out_of_time
from jostle.explain.light import LIGHT, poisson
from jostle.explain.reason import Reason
from jostle.explain.results import InterferenceCell
from jostle.explain.send import MAX_EXCESS, BackgroundLoad, Due, Response
from jostle.explain.session import Baseline, Session
from jostle.explain.slow_responses.in_flight import Beside, beside_one
from jostle.explain.words import count
from jostle.formatting import amount, listed, percent, plural, with_range

__all__ = ["SHORTER", "blocking", "judge", "measure", "verdict"]

SHORTER = 1 / 3
"""For waiting to be noticeable, the short request must take at most this fraction of the long one's time."""

STREAM_PER_S = 25.0
"""The highest rate of the stream, so that only few of its requests are due while one long request runs."""

MIN_REQUESTS = 10

MAX_S = 6.0
"""The longest stream beside one route."""

BURSTS, AMID = 12, (0.1, 0.5)
"""So many bursts in its place, and in which part of their service time the short request is sent."""

USUAL_CLIENTS = 4
"""How many clients ask for a route whose slots are not known."""

WAITS, FREE = 0.7, 0.25
"""Added time as a share of what waiting for one of the others to end would add. A request waits for them if
its 90th percentile reaches the first share; it does not if its median stays within the second, which a few
requests that the machine held up do not change.
"""

SLOWEST_SHARE = 0.1
"""The share of requests above the 90th percentile."""


def measure(session: Session) -> None:
    """Measures the shortest route by itself, and beside as many clients of each longer one as are served at a
    time; keeps in the session whether it waits for them.
    """
    fast = session.opening
    longer = [one for one in session.alone.values() if fast.demand_s <= SHORTER * one.demand_s]
    longer.sort(key=lambda one: (session.slots_of.get(one.route.name) is None, -one.demand_s))
    clients = {one.route.name: _clients(session, one) for one in longer}
    most_per_s = MAX_EXCESS * session.budget.rate_per_s
    often = [one for one in longer if clients[one.route.name] / one.demand_s > most_per_s]
    longer = [one for one in longer if one not in often or clients[one.route.name] > 1]
    if longer:
        _keep(session, fast, None, 0, len(longer) + 1)
    for place, one in enumerate(longer):
        n = clients[one.route.name]
        session.tell(f"whether {fast.route.in_sentences} waits beside {n} × {one.route.name}")
        if one in often:
            _keep_amid(session, fast, one, n)
        else:
            _keep(session, fast, one, n, len(longer) - place)
        if session.sender.stopped:
            return


def _clients(session: Session, one: Baseline) -> int:
    """As many as are served at a time, so that the next one would have to wait."""
    number = session.slots.get(one.route.name)
    full = USUAL_CLIENTS if number is None or number.high is None else round(number.high)
    return max(1, min(full, session.limits.connections // 2))


def _keep(session: Session, fast: Baseline, beside: Baseline | None, clients: int, left: int) -> None:
    """Measures `fast` in a light stream while `clients` clients ask for `beside`."""
    rate = min(STREAM_PER_S, LIGHT / fast.demand_s)
    length_s = min(MAX_S, session.budget.left_s / left / 2)
    if length_s * rate < MIN_REQUESTS:
        return
    times = poisson(rate, length_s, seed=len(session.interference))
    others = BackgroundLoad(beside.route, clients) if beside else None
    responses = session.sender.stream(fast.route, times, max(1, session.limits.connections - clients), others)
    session.interference.append(_cell(session, fast, beside, clients, responses))


def _keep_amid(session: Session, fast: Baseline, beside: Baseline, clients: int) -> None:
    """Measures `fast` amid bursts of `clients` requests for `beside`."""
    chance = random.Random(len(session.interference))
    responses: list[Response] = []
    for _ in range(BURSTS):
        at_s = beside.demand_s * chance.uniform(*AMID)
        due = [Due(0.0, beside.route, client) for client in range(clients)]
        responses += session.sender.burst([*due, Due(at_s, fast.route, clients)], fast.route, fast.demand_s)
    session.interference.append(_cell(session, fast, beside, clients, responses))


def _cell(
    session: Session, fast: Baseline, beside: Baseline | None, clients: int, responses: Sequence[Response]
) -> InterferenceCell:
    """What those for `fast` took."""
    session.note(responses)
    took = sorted(
        response.response_s
        for response in responses
        if response.route == fast.route.name and response.response_s is not None
    )
    return InterferenceCell(
        route=fast.route.name,
        beside=beside.route.name if beside else "",
        clients=clients,
        n=len(took),
        median_s=statistics.median(took) if took else None,
        p90_s=took[int(0.9 * (len(took) - 1))] if took else None,
        mean_s=statistics.fmean(took) if took else None,
        error_s=statistics.stdev(took) / math.sqrt(len(took)) if len(took) > 1 else None,
    )


def verdict(
    mean_s: float, median_s: float, p90_s: float, demand_s: float, clients: int, at_once: float
) -> str:
    """Whether a request whose time grows by `mean_s` on average, by `median_s` in the median, and by `p90_s`
    at the 90th percentile, waits for others that take `demand_s`: "waits", "free" or "partly".

    If all workers are taken, each for `demand_s` and begun at random times, the first of them is free after
    `demand_s` · (1 − u^(1 / `clients`)) with u uniform: `demand_s` / (`clients` + 1) on average. With a
    server that slices, a request waits for a slice, which has the same length every time; so the longest
    waits decide. If some workers remain free, as far as is known, no request waits for them."""
    expected_s = demand_s / (clients + 1)
    expected_p90_s = demand_s * (1 - SLOWEST_SHARE ** (1 / clients))
    if clients >= at_once and p90_s >= WAITS * expected_p90_s and mean_s >= WAITS / 2 * expected_s:
        return "waits"
    return "free" if median_s <= FREE * expected_s else "partly"


SLICE_S = 0.025
"""What takes no longer may hold up others only because slices are as long: 10 ms in Go, 20 ms in GHC."""

UNSTEADY, FINEST_S = 5.0, 0.0005
"""If the mean of the short route by itself exceeds this many times its median (or this many times the second
value, if that is longer), the machine dominates the times.
"""

Z = 1.96


def added(alone: InterferenceCell, beside: InterferenceCell) -> Estimate | None:
    """How much longer requests take on average beside others, with its interval."""
    if alone.mean_s is None or beside.mean_s is None or alone.error_s is None or beside.error_s is None:
        return None
    value, reach = beside.mean_s - alone.mean_s, Z * math.hypot(alone.error_s, beside.error_s)
    return Estimate(max(0.0, value), max(0.0, value - reach), max(0.0, value + reach), n=beside.n)


def judge(session: Session) -> None:
    """Keeps in the session whether the shortest route waits beside each other one."""
    alone = next((cell for cell in session.interference if not cell.beside), None)
    for beside in (cell for cell in session.interference if cell.beside and alone is not None):
        assert alone is not None
        more = added(alone, beside)
        slots = session.slots.get(beside.beside)
        if more is None or more.value is None or min(alone.n, beside.n) < MIN_REQUESTS:
            continue
        at_once = math.inf if slots is None or slots.high is None else slots.low
        longest = max(0.0, (beside.p90_s or 0.0) - (alone.p90_s or 0.0))
        middle = max(0.0, (beside.median_s or 0.0) - (alone.median_s or 0.0))
        demand_s = session.alone[beside.beside].demand_s
        middle = min(middle, more.high or middle)  # whichever is less certain by chance
        says = verdict(more.value, middle, longest, demand_s, beside.clients, at_once)
        session.waits_beside[beside.beside] = says


def blocking(session: Session) -> list[Finding]:
    """Who waits for whom: first the routes a single request of which holds up all others."""
    fast = session.opening
    longer = [one for one in session.alone.values() if fast.demand_s <= SHORTER * one.demand_s]
    if len(session.alone) < 2:
        return [
            cannot_tell(
                Topic.BLOCKING,
                Reason.NO_ROUTE,
                "only one route is known",
                "a second route that takes much longer",
                option="--slow PATH",
            )
        ]
    if not longer:
        times = listed([f"{one.route.name} {amount(one.demand_s, 's')}" for one in session.alone.values()])
        return [
            cannot_tell(
                Topic.BLOCKING,
                Reason.EQUAL_TIMES,
                f"all routes take about the same time ({times})",
                "a route that takes much longer",
                option="--slow PATH",
            )
        ]
    evidence = [_line(cell, session) for cell in session.interference if cell.beside]
    single = [one for one in _beside_one(session, longer) if one.waits]
    if single and not session.overtaking:  # else others have their turn, if only after a while
        return [_one_at_a_time(session, single, evidence)]
    return [_by_several(session, evidence)]


def _beside_one(session: Session, longer: Sequence[Baseline]) -> list[Beside]:
    """What others do beside a single request of each route, those that take the longest first."""
    requests = session.requests
    if requests is None:
        return []
    known = [one for one in longer if one.route.name in requests.names]
    return [beside_one(requests, one.route.name) for one in sorted(known, key=lambda one: -one.demand_s)]


def _one_at_a_time(session: Session, single: Sequence[Beside], evidence: Sequence[str]) -> Finding:
    worst, *further = single
    takes = session.service(worst.route)
    held = worst.held_s(takes)
    why = " while it computes" if session.alone[worst.route].computes else ""
    if not worst.whole:
        why = f" of its {amount(takes.value, 's')}"
    text = f"{worst.route} holds up everything else for {with_range(held)}{why}"
    in_a_slice = _may_give_way(session, worst.route) and session.alone[worst.route].demand_s <= SLICE_S
    text += "." if in_a_slice else ": one thread serves all routes."
    if further:
        also = listed([f"{one.route} ({amount(session.alone[one.route].demand_s, 's')})" for one in further])
        text += f" So does {also}." if len(further) == 1 else f" So do {also}."
    lines = [
        f"Of {plural(one.met, 'request')} that were sent {_while(one)}, {one.waited} were answered no sooner "
        "than that."
        for one in single
    ]
    return decided_finding(
        Topic.BLOCKING,
        text,
        [*lines, *evidence],
        {"held up": held, "share": worst.share},
        hurts_s=felt_s(held.value or 0.0),
        cure="Move such work to another thread or process, or cut it into short pieces.",
    )


def _while(one: Beside) -> str:
    """When others were sent that may have waited."""
    if one.whole:
        return f"while one for {one.route} was being answered"
    return f"between {percent(one.begin)} and {percent(one.end)} of the time of one for {one.route}"


def _by_several(session: Session, evidence: Sequence[str]) -> Finding:
    topic, fast = Topic.BLOCKING, session.opening
    alone = next((cell for cell in session.interference if not cell.beside), None)
    cells = [cell for cell in session.interference if cell.beside]
    if alone is None or not cells:
        return out_of_time(topic, evidence)
    if session.sender.stopped:
        return cannot_tell(
            topic,
            Reason.REFUSED,
            f"beside {cells[-1].beside} more requests were answered at once than may be sent; they may have "
            "been refused",
            "a server without a limit for the time of the probe",
            evidence,
            option="--thorough",
        )
    if alone.mean_s is not None and alone.mean_s > UNSTEADY * max(alone.median_s or 0.0, FINEST_S):
        return cannot_tell(
            topic,
            Reason.NOISY,
            f"{fast.route.name} takes {amount(alone.mean_s, 's')} on average by itself, and "
            f"{amount(alone.median_s, 's')} in the median",
            "a quieter machine",
            evidence,
        )
    judged = [
        (cell, session.waits_beside[cell.beside]) for cell in cells if cell.beside in session.waits_beside
    ]
    waits = [cell for cell, says in judged if says == "waits" and not _may_give_way(session, cell.beside)]
    if session.overtaking is not None and session.overtaking == bool(waits) and judged:
        return cannot_tell(
            topic,
            Reason.AMBIGUOUS,
            f"in bursts short requests {'overtake' if session.overtaking else 'do not overtake'} long ones, "
            f"and in the stream they {'wait' if waits else 'do not wait'}",
            "a quieter machine; more or longer requests",
            evidence,
        )
    chosen = max(waits or cells, key=lambda cell: cell.mean_s or 0.0)
    more = added(alone, chosen)
    if more is None or min(alone.n, chosen.n) < MIN_REQUESTS:
        return cannot_tell(
            topic,
            Reason.REFUSED if session.refusals else Reason.FAILED,
            f"too few requests for {fast.route.name} were answered beside {chosen.beside}",
            "a lower rate, or a longer --timeout",
            evidence,
        )
    who = f"{count(chosen.clients)} request{'' if chosen.clients == 1 else 's'} for {chosen.beside}"
    figure = {"added": more}
    if waits:
        text = (
            f"{count(chosen.clients).capitalize()} at a time, whatever is asked for: beside {who}, "
            f"{fast.route.name} takes {with_range(more)} longer on average."
        )
        figure["at once"] = Estimate(float(chosen.clients), unit="")
        cure = f"Add workers or threads, or make {chosen.beside} shorter."
        return decided_finding(topic, text, evidence, figure, hurts_s=felt_s(more.value or 0.0), cure=cure)
    if not waits and chosen.beside in session.rare_blockers:
        text = f"Apart from its rare slow ones, requests for {chosen.beside} keep nobody waiting."
        return decided_finding(topic, text, evidence, figure, notable=False)
    if felt_s(more.high or 0.0) and not more.low:
        return cannot_tell(
            topic,
            Reason.NOISY,
            f"beside {who}, {fast.route.name} takes {with_range(more)} longer on average, as a few take much "
            "longer",
            "a quieter machine, or longer probes",
            evidence,
            option="--budget",
        )
    if not judged or not more.low or any(says == "free" for _, says in judged):
        text = (
            f"Short requests do not wait for long ones: beside {who}, {fast.route.name} takes "
            f"{with_range(more)} longer."
        )
        return decided_finding(topic, text, evidence, figure, absent="short requests that wait for long ones")
    text = (
        f"Short requests wait for a part of a long one: beside {who}, {fast.route.name} takes "
        f"{with_range(more)} longer on average, where {chosen.beside} takes "
        f"{amount(session.alone[chosen.beside].demand_s, 's')}."
    )
    return decided_finding(topic, text, evidence, figure, hurts_s=felt_s(more.low or 0.0))


def _may_give_way(session: Session, route: str) -> bool:
    """Whether its requests may share a core with others in slices: they compute, and it is not known that
    short ones never overtake them.
    """
    return session.alone[route].computes is True and session.overtaking is not False


def _line(cell: InterferenceCell, session: Session) -> str:
    alone = next((c for c in session.interference if not c.beside and c.median_s is not None), None)
    if alone is None or cell.median_s is None or alone.median_s is None:
        return f"{cell.route} beside {cell.clients} × {cell.beside}: no responses."
    return (
        f"{cell.route}: median {amount(alone.median_s, 's')} by itself, {amount(cell.median_s, 's')} "
        f"beside {cell.clients} × {cell.beside} ({plural(cell.n, 'request')})."
    )
