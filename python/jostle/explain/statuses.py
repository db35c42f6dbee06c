"""Responses that were not as they were when a route was first tried, and a server that went away."""

from jostle.analysis.results import Estimate
from jostle.analysis.stats.proportion import share_interval
from jostle.explain.finding import Finding, Topic, decided_finding
from jostle.explain.session import Session
from jostle.explain.words import one_in, span
from jostle.formatting import plural, tallied
from jostle.record.outcomes import outcome_label

__all__ = ["changed", "was_away", "went_away"]

OFTEN = 0.005
"""Fewer wrong responses than this share are not told."""

WORST_S = 10.0
"""What does not answer, or answers wrongly, is worse than any wait."""


def changed(session: Session) -> Finding | None:
    """A route that did not always answer as it did at first; None if all did."""
    wrong = {
        route: sum(n for (name, _), n in session.wrong.items() if name == route) for route, _ in session.wrong
    }
    shares = {route: n / max(n, session.response_counts[route]) for route, n in wrong.items()}
    worst = max(shares, key=lambda route: shares[route], default=None)
    if worst is None or shares[worst] < OFTEN:
        return None
    n, share = session.response_counts[worst], shares[worst]
    low, high = share_interval(wrong[worst], n)
    kinds = tallied({what: count for (name, what), count in session.wrong.items() if name == worst})
    text = (
        f"Of the requests for {worst}, {one_in(share)} ({span(low, high, 'share')}) is not answered as at "
        f"first: {kinds}."
    )
    return decided_finding(
        Topic.WRONG,
        text,
        [f"{wrong[worst]} of {plural(n, 'request')}; when first tried, it was answered as expected."],
        {"share": Estimate(share, low, high, "share", n=n)},
        hurts_s=WORST_S * share,
    )


def was_away(session: Session) -> Finding | None:
    """That requests could not connect, although the server answers otherwise; None if all could."""
    lost = session.sender.unconnected
    if not lost:
        return None
    kinds = tallied({outcome_label(kind): n for kind, n in lost.items()})
    return decided_finding(
        Topic.AWAY,
        f"The server accepted no connections for a time: {plural(lost.total(), 'request')} could not connect "
        f"({kinds}).",
        ["Its log says why. What was asked meanwhile is not counted."],
        hurts_s=WORST_S,
    )


def went_away(session: Session) -> Finding | None:
    """That the server is gone; None if it answers again."""
    if any(response.ok for response in session.sender.serial(session.opening.route, 1, 0.0)):
        return None
    kinds = tallied({outcome_label(kind): n for kind, n in session.sender.unconnected.items()})
    return decided_finding(
        Topic.AWAY,
        f"The server went away {session.budget.spent_s:.0f} s after the first request, and did not come "
        f"back: {kinds}. Its log says why; nothing more was asked.",
        [f"{plural(session.budget.requests, 'request')} had been sent by then."],
        hurts_s=WORST_S,
    )
