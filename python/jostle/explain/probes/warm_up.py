"""Warm-up: how much longer the first requests took than later ones, and how many of them were slow."""

import statistics
from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, felt_s
from jostle.explain.probes.service import robust_spread
from jostle.explain.reason import Reason
from jostle.explain.session import Session
from jostle.formatting import amount, plural

__all__ = ["settled_after", "warm_up"]

SLOWER = 1.3
"""A request belongs to the warm-up if it takes more than this many times as long as the later ones."""

NOISY = 0.1
"""If the spread of the later requests exceeds this, the first ones tell nothing."""

NOTICED = 2.0
"""From this ratio of the first request to the later ones on, a single slow request is worth reporting."""

MIN_TIMES = 12


def settled_after(times_s: Sequence[float]) -> int:
    """The length of the warm-up in requests: it ends with the last slow request that comes at the start or
    directly after another slow one.
    """
    limit = SLOWER * statistics.median(times_s[len(times_s) // 2 :])
    slow = [t > limit for t in times_s[: len(times_s) // 2]]
    count = 0
    for i, now in enumerate(slow):
        if now and (i == count or (i > 0 and slow[i - 1])):
            count = i + 1
    return count


def warm_up(session: Session) -> Finding:
    """Looks at the requests that were sent one at a time, from the first one on; sends nothing."""
    topic, slow = Topic.WARM_UP, session.slow
    served = session.served.get(slow.route.name, []) if slow else []
    times = [response.service_s for response in served if response.service_s is not None]
    if slow is None or len(times) < MIN_TIMES:
        return cannot_tell(
            topic, Reason.TOO_SLOW, f"only {plural(len(times), 'request')} could be sent", "a shorter route"
        )
    name, later = slow.route.name, statistics.median(times[len(times) // 2 :])
    count, ratio = settled_after(times), times[0] / later
    evidence = [
        f"The first requests for {name} took {', '.join(amount(t, 's') for t in times[:5])}; those of "
        f"the later half "
        f"{amount(later, 's')}."
    ]
    if not session.target.started_here:
        evidence.append("jostle did not start the server: it may have been warm already.")
    figures = {
        "requests": Estimate(float(count), unit="", n=len(times)),
        "first over later": Estimate(ratio, unit="times", n=len(times)),
    }
    spread = robust_spread(times[len(times) // 2 :])
    if spread > NOISY:
        return cannot_tell(
            topic,
            Reason.NOISY,
            f"later requests of {name} differ by {spread:.0%} of their time",
            "a quieter machine",
            evidence,
            figures,
        )
    if ratio >= NOTICED or (count > 1 and ratio >= SLOWER):
        return decided_finding(
            topic,
            f"The first request of {name} takes {ratio:.1f} times as long as later ones; it is settled after "
            f"{plural(max(1, count), 'request')}.",
            evidence,
            figures,
            notable=felt_s(times[0] - later) > 0,
        )
    return decided_finding(
        topic,
        f"The first requests of {name} take no longer than later ones.",
        evidence,
        figures,
        absent="slow first requests",
    )
