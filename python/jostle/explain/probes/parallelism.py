"""P1: how many requests progress at once. Bursts of 1, 2, 4, … equal requests.

A burst of k requests that take S each by themselves is over after S·⌈k/c⌉ if c workers serve one request
after another, and after S·k/c if all share c cores. So k·S divided by its duration never exceeds c."""

import math
import statistics
from collections.abc import Mapping, Sequence

from jostle.analysis.results import Estimate
from jostle.explain.discipline.inference import Inference, Range
from jostle.explain.finding import Finding, Topic, cannot_tell, decided_finding, undecided
from jostle.explain.reason import Reason
from jostle.explain.session import Session, equal_probe
from jostle.formatting import amount, plural

__all__ = ["MIN_S", "count_estimate", "fits", "how_many", "parallelism", "unfit", "unlike"]

MIN_S = 0.002
"""Bursts of shorter requests would be dominated by the time that it takes to send them."""

TIME = 1 / 9
"""Share of the time allowed that bursts of equal requests may take on a server that serves one at a time."""

HARDLY_LONGER = 1.25
"""Up to this many service times a burst is served all at once: two requests for one worker would take 2."""

UNLIKE = 1.3
"""Bursts of one size whose durations differ by this factor give no count: a single request that the machine
held up makes three workers look like two.
"""

OFF = 1.15
"""A burst that takes longer by this factor than with so many workers is not served by that many, nor one that
takes so much less.
"""


def unfit(session: Session, topic: Topic) -> Finding | None:
    """Why bursts would tell nothing about this server; None if they may."""
    slow = session.slow
    if slow is None:
        return cannot_tell(topic, Reason.FAILED, "no route was answered", "a route that answers 200")
    if session.intermediary:
        return cannot_tell(
            topic,
            Reason.INTERMEDIARY,
            f"something stands between, and holds requests back as it likes ({session.intermediary})",
            "the address of the server itself",
        )
    if slow.demand_s - session.delay_s < MIN_S:
        return cannot_tell(
            topic,
            Reason.TOO_FAST,
            f"{slow.route.name} takes {amount(slow.demand_s, 's')}, and a burst takes about as long to send",
            f"a route that takes {amount(MIN_S, 's')} or more",
            option="--slow PATH",
        )
    if max_burst(session) < 4:
        return cannot_tell(
            topic,
            Reason.TOO_SLOW,
            f"{slow.route.name} takes {amount(slow.demand_s, 's')}: bursts of it would take too long",
            "a route that takes 10 to 500 ms",
            option="--slow PATH",
        )
    return None


def max_burst(session: Session) -> int:
    """The largest burst within the limits that fits into the time if requests are served one by one."""
    slow = session.slow
    affordable = int(TIME * session.limits.seconds / (2 * slow.demand_s)) if slow else 0
    return min(session.limits.connections, affordable)


def parallelism(session: Session, inference: Inference) -> Finding:
    """The finding from all bursts together."""
    topic, at_once = Topic.PARALLELISM, inference.at_once
    took = _lengths(session)
    evidence = [_line(count, ratios) for count, ratios in took.items()]
    if at_once.reason is Reason.NOT_SATURATED and (full := _all_at_once(took)):
        lower = Range(full, None)
        return decided_finding(
            topic,
            f"{how_many(lower)} requests progress at once.",
            evidence,
            {"at once": count_estimate(lower)},
        )
    if at_once.value is None:
        return undecided(topic, at_once.reason, evidence)
    if inference.discipline.value is None and unlike(took):
        return undecided(topic, Reason.NOISY, evidence)
    number = _common(at_once.value, inference.workers)
    if inference.discipline.value is None and not fits(took, number):
        return cannot_tell(
            topic,
            Reason.NO_FIT,
            f"{max(took)} requests at once take {statistics.median(took[max(took)]):.1f} times as long as a "
            "single one, which fits no whole number of them",
            "look at the staircase: a request may hold up others for a part of its time",
            evidence,
        )
    noun = "request progresses" if number.low == number.high == 1 else "requests progress"
    return decided_finding(
        topic, f"{how_many(number)} {noun} at once.", evidence, {"at once": count_estimate(number)}
    )


def _all_at_once(took: Mapping[int, Sequence[float]]) -> int:
    """The size of the largest burst that took hardly longer than a single request, whatever smaller ones
    took; 0 if there is none.
    """
    return max(
        (count for count, ratios in took.items() if statistics.median(ratios) < HARDLY_LONGER), default=0
    )


def fits(took: Mapping[int, Sequence[float]], number: Range) -> bool:
    """Whether the largest burst took about as long as if `number` requests had progressed at once."""
    size = max(took)
    ratio = statistics.median(took[size])
    return number.low != number.high or size / number.low / OFF <= ratio <= OFF * math.ceil(size / number.low)


def _common(number: Range, workers: Range | None) -> Range:
    """The overlap of the equal bursts' range with that of the discipline, if the latter is known and they
    overlap; otherwise the equal bursts' range.
    """
    if workers is None or workers.high is None:
        return number
    low = max(number.low, workers.low)
    high = workers.high if number.high is None else min(number.high, workers.high)
    return Range(low, high) if low <= high else number


def how_many(number: Range) -> str:
    """The number at the beginning of a sentence: "4", "3 to 4" or "At least 4"."""
    if number.high is None:
        return f"At least {number.low:.0f}"
    return f"{number.low:.0f}" if number.low == number.high else f"{number.low:.0f} to {number.high:.0f}"


def count_estimate(number: Range) -> Estimate:
    """The range as a figure."""
    return Estimate(number.low, number.low, number.high, "", bound="≥" if number.high is None else "")


def _lengths(session: Session) -> dict[int, list[float]]:
    """How long the equal bursts that were answered completely took, in service times, by size."""
    took: dict[int, list[float]] = {}
    for burst in session.bursts:
        if not burst.jobs or session.slow is None:  # no connection
            continue
        name = session.slow.route.name
        ends = [job.end_s for job in burst.jobs if job.end_s is not None]
        alike = {job.route for job in burst.jobs} == {name} and burst.probe in (
            equal_probe(name),
            "discipline",
        )
        at_once = max(job.at_s for job in burst.jobs) < burst.jobs[0].demand_s / 4
        if alike and at_once and len(ends) == len(burst.jobs):
            took.setdefault(len(ends), []).append(max(ends) / burst.jobs[0].demand_s)
    return dict(sorted(took.items()))


def unlike(took: Mapping[int, Sequence[float]]) -> bool:
    """Whether the durations of bursts of one size differ too much to derive a count from them. `took`:
    durations by size.
    """
    return any(max(ratios) > UNLIKE * min(ratios) for ratios in took.values())


def _line(count: int, ratios: Sequence[float]) -> str:
    lengths = " to ".join(dict.fromkeys(f"{ratio:.2f}" for ratio in (min(ratios), max(ratios))))
    took = f"A burst of {plural(count, 'request')} took {lengths} times as long as a single one"
    return f"{took} ({plural(len(ratios), 'burst')})."
