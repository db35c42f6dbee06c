"""The 40 ms between head and body: a server that writes the two separately, Nagle's algorithm and delayed
acknowledgements.

The second write waits until the first is acknowledged (RFC 896), and the client's kernel delays the
acknowledgement by 40 ms or more on Linux (RFC 1122, section 4.2.3.2). TCP_NODELAY or a single write cures
it."""

import statistics

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding
from jostle.explain.reason import Reason
from jostle.explain.send import DELAYED_ACK_S, awaits_acknowledgement
from jostle.explain.session import Session
from jostle.formatting import amount, percent, plural

__all__ = ["delayed_body"]

RARELY = 0.02
"""Up to this share of late bodies it is chance."""

MIN_RESPONSES = 10


def delayed_body(session: Session) -> Finding:
    """Looks at the requests that were sent one at a time; sends nothing."""
    topic = Topic.DELAYED_BODY
    gaps = session.bodies_after_s
    if len(gaps) < MIN_RESPONSES:
        return cannot_tell(topic, Reason.FAILED, "too few requests were answered", "a route that answers 200")
    late = [gap for gap in gaps if awaits_acknowledgement(gap)]
    share = len(late) / len(gaps)
    shortest_s, longest_s = DELAYED_ACK_S
    evidence = [
        f"Of {plural(len(gaps), 'response')}, {len(late)} had their last byte {shortest_s * 1e3:.0f} to "
        f"{longest_s * 1e3:.0f} ms after their head; median {amount(statistics.median(gaps), 's')}."
    ]
    figure = Estimate(share, unit="share", n=len(gaps))
    if session.bodies_wait:
        return decided_finding(
            topic,
            f"{percent(share)} of the bodies come {amount(statistics.median(late), 's')} after their head: "
            "it writes the two apart, and Nagle's algorithm waits for a delayed acknowledgement. "
            "TCP_NODELAY, or a single write, cures it.",
            evidence,
            figures={"share": figure},
            hurts_s=share * statistics.median(late),
        )
    if share <= RARELY:
        text = "Head and body come together."
        return decided_finding(
            topic, text, evidence, {"share": figure}, absent="a delay of 40 ms before the body"
        )
    return cannot_tell(
        topic,
        Reason.AMBIGUOUS,
        f"{percent(share)} of the bodies come about 40 ms late, which may also be the server's own work",
        "a capture of the packets",
        evidence,
        figures={"share": figure},
    )
