"""How long it takes to open connections, several at once: a kernel whose queue of them is full drops an
attempt, and the client's kernel tries again after a second (RFC 6298).
"""

import statistics

from jostle.analysis.results import Estimate
from jostle.analysis.stats.proportion import share_interval
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding
from jostle.explain.reason import Reason
from jostle.explain.session import Session
from jostle.explain.words import span
from jostle.formatting import amount, percent, plural

__all__ = ["connecting"]

AGAIN_S = 0.9
"""An attempt that takes longer than this was made again."""

LONG_S = 0.05
"""Opening a connection is slow if it takes longer than this, besides what the network takes."""

TURNS = 3


def connecting(session: Session) -> Finding:
    """Opens as many connections at once as may be open, a few times."""
    topic, route, count = Topic.CONNECTING, session.opening.route, session.limits.connections
    session.tell(f"how long it takes to open {count} connections at once")
    took: list[float] = []
    for _ in range(TURNS):
        responses = session.sender.flood(route, count)
        session.note(responses)
        took += [one.sent_s - one.due_s for one in responses if one.sent_s is not None]
    if len(took) < count:
        return cannot_tell(topic, Reason.FAILED, "too few connections could be opened", "a lower load")
    long = [one for one in took if one >= AGAIN_S]
    limit_s = LONG_S + 2 * session.delay_s
    middle = statistics.median(took)
    evidence = [
        f"{plural(len(took), 'connection')}, {count} at once: opened within {amount(middle, 's')} (median) "
        f"and {amount(max(took), 's')} (longest)."
    ]
    share = Estimate(len(long) / len(took), *share_interval(len(long), len(took)), "share", n=len(took))
    if long:
        assert share.low is not None
        assert share.high is not None
        again = statistics.median(long)
        return decided_finding(
            topic,
            f"{percent(share.value)} of connections ({span(share.low, share.high, 'share')}) take "
            f"{amount(again, 's')} ({span(min(long), max(long), 's')}) to open when {count} are opened at "
            "once: the server accepts them too slowly, its backlog is full, and the kernel tries again after "
            "a second.",
            evidence,
            {"share": share, "wait": Estimate(again, min(long), max(long), n=len(long))},
            hurts_s=len(long) / len(took) * again,
            cure="Lengthen the backlog that it passes to listen(), or accept more quickly.",
        )
    if max(took) > limit_s:
        return cannot_tell(
            topic,
            Reason.AMBIGUOUS,
            f"some connections took {amount(max(took), 's')} to open, and the machine may be the cause",
            "a quieter machine",
            evidence,
        )
    return decided_finding(
        topic,
        f"{count} connections at once are opened within {amount(max(took), 's')}.",
        evidence,
        absent="connections that are slow to open",
    )
