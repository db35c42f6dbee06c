"""Whether the server's memory grows with every request, as it is seen after each stage of the probes."""

from collections.abc import Sequence

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats import student
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding
from jostle.explain.reason import Reason
from jostle.explain.session import Session
from jostle.formatting import amount, plural, with_range

__all__ = ["memory", "per_request"]

MIN_BYTES = 20_000_000
"""Less than this in all may be caches and pools that fill once."""

MIN_SAMPLES = 4

STEADY = 0.3
"""The memory grows steadily if the interval of the growth is no wider than this share of it, to each side."""


def per_request(samples: Sequence[tuple[int, int]]) -> Estimate | None:
    """Bytes for each request, by a line through (requests so far, bytes), with its interval; None if there
    are too few.
    """
    if len(samples) < MIN_SAMPLES or samples[-1][0] == samples[0][0]:
        return None
    requests, held = (np.array(column, dtype=float) for column in zip(*samples, strict=True))
    away = requests - requests.mean()
    slope = float(away @ held / (away @ away))
    left = held - held.mean() - slope * away
    error = float(np.sqrt(left @ left / (len(samples) - 2) / (away @ away)))
    reach = student.quantile(len(samples) - 2, 0.975) * error
    return Estimate(slope, slope - reach, slope + reach, "bytes", n=len(samples))


def memory(session: Session) -> list[Finding]:
    """Empty if the server's process is not known; sends nothing."""
    samples = session.memory
    each = per_request(samples)
    if each is None or each.value is None or each.low is None:
        return []
    (first, before), (last, after) = samples[0], samples[-1]
    evidence = [
        f"{amount(before, 'bytes')} after {plural(first, 'request')}, {amount(after, 'bytes')} after "
        f"{last:,}; {plural(len(samples), 'sample')} in all."
    ]
    figure = {"per request": each}
    usage = session.target.usage
    if after - before >= MIN_BYTES and usage is not None and usage().java:
        because = (
            f"{amount(after - before, 'bytes')} more are held, and Java fills its heap before it collects"
        )
        advice = "a heap that is full soon (-Xmx)"
        return [cannot_tell(Topic.MEMORY, Reason.AMBIGUOUS, because, advice, evidence, figure)]
    if after - before >= MIN_BYTES and each.low < (1 - STEADY) * each.value:
        because = f"the server holds {amount(after - before, 'bytes')} more, but not so much for each request"
        return [
            cannot_tell(Topic.MEMORY, Reason.NOISY, because, "more time", evidence, figure, option="--budget")
        ]
    if after - before < MIN_BYTES:
        text = f"The server's memory grows by no more than {amount(max(0, after - before), 'bytes')}."
        return [
            decided_finding(
                Topic.MEMORY, text, evidence, figure, absent="memory that grows with each request"
            )
        ]
    text = (
        f"The server's memory grows by {with_range(each)} with each request, and nothing of it was given "
        f"back meanwhile: {amount(after - before, 'bytes')} more after {plural(last - first, 'request')}."
    )
    return [decided_finding(Topic.MEMORY, text, evidence, figure, hurts_s=GROWTH_S, cure=CURE)]


GROWTH_S = 0.5
"""Memory that grows ends in a server that goes away."""

CURE = (
    "Unless its runtime only collects later (ask for longer, or look at its heap), each request leaves "
    "something behind: sessions, caches or listeners that nobody removes."
)
