"""Requests that are refused where too many come at once: by a full queue, or by somebody who gave up waiting;
and whether the server still works at what was given up.
"""

import statistics

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, decided_finding
from jostle.explain.session import LATE, Baseline, Held, Session
from jostle.explain.words import count
from jostle.formatting import amount, listed, with_range

__all__ = ["refusing", "settle"]

MAX_TRIES = 20
"""How often it is asked whether a server has recovered, at most."""

REFUSED_S = 1.0
"""A refusal is worse than a wait."""


def settle(session: Session, route: Baseline) -> None:
    """Asks once at a time until a request takes its usual time again, so that the next burst meets a server
    that is at rest; keeps in the session how long that was.
    """
    spent_s = 0.0
    for _ in range(MAX_TRIES):
        (response,) = session.sender.serial(route.route, 1, 0.0) or (None,)
        if response is None or response.sent_s is None or response.end_s is None:
            break
        session.note([response])
        took_s = response.end_s - response.sent_s
        if response.ok and took_s <= LATE * route.demand_s:
            break
        spent_s += took_s
    session.unsettled_s.setdefault(route.route.name, []).append(spent_s)


def refusing(session: Session, route: Baseline, held: Held, evidence: list[str]) -> Finding:
    """The finding about a route that refuses requests of large bursts."""
    name, accepted, after = route.route.name, count(held.accepted), with_range(held.after)
    if not held.refused_late(route.demand_s):
        says = f"{name}: {accepted} at once; further requests are refused with {held.refused}, after {after}."
        cure = "Make the queue longer, or send fewer at a time and repeat the refused ones later."
        return decided_finding(Topic.SLOTS, says, evidence, held.figures, hurts_s=REFUSED_S, cure=cure)
    says = (
        f"{name}: {accepted} at once; further requests wait {after} and are then refused with {held.refused}."
    )
    cure = "Let fewer in at a time, or give up sooner."
    figures, spent_s = held.figures, session.unsettled_s.get(name, [])
    longest_s = statistics.median(spent_s) if spent_s else 0.0
    if longest_s > route.demand_s:
        says += (
            f" For {amount(longest_s, 's')} afterwards single requests are refused or late, too: the server "
            "still works on what it gave up, as with retries."
        )
        cure = "Let the server retry less often, and cancel what it has given up."
        evidence.append(
            "After each burst of which some were refused, single requests were refused or late for "
            f"{listed([amount(one, 's') for one in spent_s])}."
        )
        figures = {**figures, "afterwards": Estimate(longest_s, min(spent_s), max(spent_s), n=len(spent_s))}
    return decided_finding(Topic.SLOTS, says, evidence, figures, hurts_s=REFUSED_S, cure=cure)
