"""More requests at once than the server can take: how many it holds, what becomes of the others, and how it
recovers.

These probes are destructive and run only on request.
"""

import statistics
from collections import Counter
from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding
from jostle.explain.reason import Reason
from jostle.explain.send import Response
from jostle.explain.session import Baseline, Session
from jostle.formatting import amount, listed, plural

__all__ = ["queue_limit", "recovery"]

MAX_CONNECTIONS = 1024
"""The most connections that are opened at once."""

SLOW_S, PATIENT = 8.0, 0.8
"""The longest wait that a burst may cause, in seconds and as a share of the timeout: requests that wait
longer would look as if never answered."""

MIN_BURST = 32
"""The smallest burst."""

RECOVERED = 1.25
"""The server has recovered when a request takes no more than this many times its usual time."""


def _unfit(session: Session, topic: Topic) -> Finding:
    """Why the server is not overloaded."""
    if not session.overload:
        return cannot_tell(
            topic,
            Reason.NOT_ASKED,
            "finding out would overload the server",
            "leave to overload it",
            option="--overload",
        )
    return cannot_tell(topic, Reason.FAILED, "no route was answered", "a route that answers 200")


def _most(session: Session, slow: Baseline) -> int:
    """How many requests can be answered before the last of them seems never to be."""
    longest_s = min(SLOW_S, PATIENT * session.sender.timeout_s)
    return min(MAX_CONNECTIONS, int((session.parallelism or 1.0) * longest_s / slow.demand_s))


def _too_slow(topic: Topic, slow: Baseline) -> Finding:
    return cannot_tell(
        topic,
        Reason.TOO_SLOW,
        f"{slow.route.name} takes {amount(slow.demand_s, 's')}: too few requests can be answered in time",
        "a shorter route, or a longer --timeout",
        option="--slow PATH",
    )


def queue_limit(session: Session) -> Finding:
    """Sends more and more requests at once until some are not answered."""
    topic, slow = Topic.QUEUE_LIMIT, session.slow
    if not session.overload or slow is None:
        return _unfit(session, topic)
    max_burst = _most(session, slow)
    evidence = []
    k = MIN_BURST
    while k <= max_burst:
        session.tell(f"how many requests it holds: {k} at once")
        responses = session.sender.flood(slow.route, k)
        fates = Counter(filter(None, (response.fate for response in responses)))
        evidence.append(
            f"{k} at once: {sum(response.ok for response in responses)} answered"
            + "".join(f", {count} {what}" for what, count in fates.most_common())
            + "."
        )
        if fates:
            return _limit(responses, fates, evidence, slow.demand_s)
        k *= 2
    if not evidence:
        return _too_slow(topic, slow)
    return decided_finding(
        topic,
        f"It takes {plural(k // 2, 'request')} at once and answers them all.",
        evidence,
        figures={"limit": Estimate(float(k // 2), float(k // 2), None, "", bound="≥", n=len(evidence))},
    )


def _limit(
    responses: Sequence[Response], fates: Counter[str], evidence: list[str], demand_s: float
) -> Finding:
    topic = Topic.QUEUE_LIMIT
    held = sum(response.ok for response in responses)
    what = listed([kind for kind, _ in fates.most_common()])
    sent = [response.sent_s for response in responses if response.sent_s is not None]
    if sent and max(sent) - min(sent) > demand_s / 2:
        return cannot_tell(
            topic,
            Reason.TOO_FAST,
            "some requests were answered before all had been sent, so that those it held were fewer "
            "than those it "
            "answered",
            "a longer route",
            evidence,
            figures={"answered": Estimate(float(held), unit="", n=len(responses))},
        )
    return decided_finding(
        topic,
        f"It holds {plural(held, 'request')} at once; further ones are {what}.",
        evidence,
        figures={"limit": Estimate(float(held), unit="", n=len(responses))},
    )


def recovery(session: Session) -> Finding:
    """How long it takes after the overload until requests are as fast as before."""
    topic, slow = Topic.RECOVERY, session.slow
    if not session.overload or slow is None:
        return _unfit(session, topic)
    if _most(session, slow) < MIN_BURST:
        return _too_slow(topic, slow)  # nothing was overloaded
    session.tell("how soon it recovers")
    limit = RECOVERED * slow.demand_s
    began = session.budget.now()
    count = max(10, min(50, int(2.0 / slow.demand_s)))
    responses = session.sender.serial(slow.route, count, 0.0)
    usual = [
        response for response in responses if response.service_s is not None and response.service_s <= limit
    ]
    took = [response.service_s for response in responses if response.service_s is not None]
    if not usual or not took:
        return decided_finding(
            topic,
            f"It has not recovered {amount(session.budget.now() - began, 's')} after the overload.",
            [f"{plural(len(took), 'request')} of {count} answered after it."],
        )
    after_s = (usual[0].sent_s or 0.0) - (responses[0].sent_s or 0.0)
    return decided_finding(
        topic,
        f"It recovers from overload within {amount(max(after_s, slow.demand_s), 's')}.",
        [f"Median after it {amount(statistics.median(took), 's')}, before it {amount(slow.demand_s, 's')}."],
        figures={"after": Estimate(after_s, n=len(took))},
    )
