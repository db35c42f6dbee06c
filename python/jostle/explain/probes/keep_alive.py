"""Keep-alive: after what time the server closes idle connections, and after how many requests busy ones."""

import statistics
from collections.abc import Sequence

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, out_of_time
from jostle.explain.reason import Reason
from jostle.explain.send import LightStream
from jostle.explain.session import Session
from jostle.formatting import listed, plural

__all__ = ["between", "keep_alive"]

ALIKE = 0.02
"""Connections are closed after the same number of requests if these differ by no more than this share, or by
one, as responses within a hundredth of a second are counted together."""


def between(idle: Sequence[tuple[float, bool]]) -> tuple[float, float | None] | None:
    """The longest pause that a connection survived, and the shortest that it did not, which is None if all
    survived. Returns None if the results contradict each other.

    `idle`: how long each connection was idle, and whether it was closed.
    """
    outlived = max((pause for pause, closed in idle if not closed), default=0.0)
    gone = min((pause for pause, closed in idle if closed), default=None)
    return None if gone is not None and gone < outlived else (outlived, gone)


CONNECTING_S = 0.001
"""What a new connection costs: where each is closed after a number of requests, that is a fault, if a small
one.
"""


def _busy(light: LightStream) -> tuple[Estimate, str, float]:
    """How many requests a connection carries, counted on those that were closed; that in words; and what each
    request pays for it, in seconds, if the number is fixed.
    """
    if not light.carried:
        known = Estimate(float(light.busiest), unit="", bound="≥", n=light.busiest)
        return known, f"a connection carries {light.busiest:,} requests or more", 0.0
    low, high = min(light.carried), max(light.carried)
    middle = statistics.median(light.carried)
    figure = Estimate(middle, low, high, unit="", n=len(light.carried))
    if high - low > max(1.0, ALIKE * middle):
        return figure, f"busy ones are closed after {low:,.0f} to {high:,.0f} requests, no fixed number", 0.0
    return figure, f"each connection is closed after {middle:,.0f} requests", CONNECTING_S / middle


def keep_alive(session: Session) -> Finding:
    """Looks at the light stream and the connections that stayed idle beside it; sends nothing."""
    topic, light = Topic.KEEP_ALIVE, session.light
    if light is None:
        return out_of_time(topic)
    if not light.busiest:
        return cannot_tell(topic, Reason.FAILED, "no request was answered", "a lower rate")
    each = light.busiest / (1 + len(light.carried))
    evidence = [
        f"{plural(light.busiest, 'request')} one after another on "
        f"{plural(1 + len(light.carried), 'connection')}"
        + (
            f": {listed([str(n) for n in light.carried[:8]])} on those that were closed."
            if light.carried
            else "."
        ),
        "; ".join(f"idle for {pause:g} s: {'closed' if closed else 'open'}" for pause, closed in light.idle)
        + ".",
    ]
    if each < 1.5:
        text = "It closes the connection after every response: each request pays for a new one."
        cure = "Let connections stay open (keep-alive)."
        return decided_finding(topic, text, evidence[:1], hurts_s=CONNECTING_S, cure=cure)
    requests, busy, hurts_s = _busy(light)
    limits = between(light.idle)
    if limits is None:
        return cannot_tell(
            topic,
            Reason.NOISY,
            "connections that were idle for longer stayed open, and others were closed",
            "the probe repeated",
            evidence,
            {"requests per connection": requests},
        )
    outlived, gone = limits
    idle = (
        f"an idle connection stays open for {outlived:g} s or more"
        if gone is None
        else f"an idle connection is closed between {outlived:g} and {gone:g} s"
    )
    text = f"{busy}; {idle}" if hurts_s else f"{idle}; {busy}"
    return decided_finding(
        topic,
        f"{text[0].upper()}{text[1:]}.",
        evidence,
        {
            "idle": Estimate(outlived, outlived, gone, bound="≥" if gone is None else "", n=len(light.idle)),
            "requests per connection": requests,
        },
        notable=bool(light.carried),
        hurts_s=hurts_s,
        cure="Raise the number, and let clients repeat what a closing connection cut off.",
    )
