"""The first request after some time in which nobody asked: what was put to sleep has to be woken."""

import statistics

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding
from jostle.explain.probes.pauses import BUSY
from jostle.explain.reason import Reason
from jostle.explain.server.limits import NoTime
from jostle.explain.session import Session
from jostle.explain.words import span
from jostle.formatting import amount, listed

__all__ = ["after_idle"]

SILENT_S = (1.0, 2.0, 4.0)
"""How long nobody asks, each of them `TURNS` times."""

TURNS = 2

TIMES, LONGER_S, BUSY_S = 2.0, 0.05, 0.15
"""The first request is slow if it takes this many times as long as usual, and so much longer; on a busy
machine, where whoever slept waits for a core, by the third value.
"""


def after_idle(session: Session) -> Finding:
    """Waits, and asks once."""
    route, usual_s = session.opening.route, session.opening.demand_s
    longer_s = BUSY_S if (session.pressure or 0.0) > BUSY else LONGER_S
    limit_s = max(TIMES * usual_s, usual_s + longer_s)
    took: dict[float, list[float]] = {}
    for silent_s in SILENT_S:
        if TURNS * silent_s > session.budget.left_s:
            break
        session.tell(
            f"whether {route.in_sentences} takes longer after {amount(silent_s, 's')} in which nobody asked"
        )
        for _ in range(TURNS):
            session.sender.rest(silent_s)
            responses = session.sender.serial(route, 1, 0.0)
            session.note(responses)
            took.setdefault(silent_s, []).extend(
                one.service_s for one in responses if one.service_s is not None
            )
    complete = {silent_s: times for silent_s, times in took.items() if len(times) == TURNS}
    if not complete:
        raise NoTime
    evidence = [
        f"After {amount(silent_s, 's')}: {listed([amount(one, 's') for one in times])}."
        for silent_s, times in complete.items()
    ]
    slow = [silent_s for silent_s, times in complete.items() if min(times) > limit_s]
    longest = max(complete)
    if not slow:
        return decided_finding(
            Topic.IDLE,
            f"The first request after {amount(longest, 's')} in which nobody asked takes no longer.",
            evidence,
            absent="a slow first request after idle time",
        )
    if slow != [silent_s for silent_s in complete if silent_s >= slow[0]]:
        return cannot_tell(
            Topic.IDLE,
            Reason.NOISY,
            "some requests after idle time were slow, and others after longer ones were not",
            "a quieter machine",
            evidence,
        )
    times = [one for silent_s in slow for one in complete[silent_s]]
    middle = Estimate(statistics.median(times), min(times), max(times), n=len(times))
    return decided_finding(
        Topic.IDLE,
        f"The first request after {amount(slow[0], 's')} in which nobody asked takes "
        f"{amount(middle.value, 's')} ({span(min(times), max(times), 's')}) instead of "
        f"{amount(usual_s, 's')}: what was put to sleep is woken.",
        evidence,
        {"first": middle},
        hurts_s=(middle.value or 0.0) - usual_s,
        cure="Keep one instance awake, or ask it now and then.",
    )
