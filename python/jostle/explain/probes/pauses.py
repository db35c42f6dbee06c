"""Pauses, in which no request is answered, such as a garbage collection or a checkpoint: how long, and how
often.

Requests of the light stream that wait for the same pause form one stall, as all of them end when the pause
ends. A pause is at least as long as the longest of these waits."""

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from jostle.analysis.results import Estimate
from jostle.explain.finding import Finding, Topic, cannot_tell, found
from jostle.explain.reason import Reason
from jostle.explain.send import Response
from jostle.explain.session import Session
from jostle.formatting import amount, plural

__all__ = ["Pause", "pauses", "period", "regular_ones", "stalls"]

LONGER, AT_LEAST_S = 8.0, 0.005
"""A request stalls if it takes more than this many times the median, and longer than the second value."""

TOGETHER_S = 0.005
"""Late responses belong to the same stall if each comes within this time of the one before."""

OWN_S = 0.002
"""A request sent more than this after it was due, with its connection free, was delayed by the generator."""

REGULAR = 0.15
"""The stalls have a period if the coefficient of variation of their gaps is at most this."""

CLOSE = 0.05
"""By what share of a period a stall of a regular pause may come early or late, if others come in between."""

CHANCE = 0.01
"""How often stalls at random times may be taken for regular ones."""

FEW = 4
"""The least number of stalls for a period."""

BUSY = 0.05
"""If some thread of this machine waited for a core for more than this share of the time, the machine may have
caused the stalls."""

SURELY_S = 0.05
"""Shorter stalls at irregular times may as well come from the machine: a thread that waits for a core."""

SURE = 3.0
"""e⁻³ = 5 %: a pause of length L is missed with probability e^(−rate·L)."""


@dataclass(frozen=True)
class Pause:
    """`end_s`: when the first response came; `length_s`: the longest wait; `requests`: how many waited."""

    end_s: float
    length_s: float
    requests: int


def stalls(responses: Sequence[Response]) -> list[Pause]:
    """All stalls of a stream on one connection. Times count from when a request was due, as a request that
    waits for its connection is sent late.
    """
    took = [(a.due_s, a.response_s) for a in responses if a.response_s is not None]
    if not took:
        return []
    limit = max(LONGER * statistics.median(t for _, t in took), AT_LEAST_S)
    late = sorted((due + t, t) for due, t in took if t > limit)
    groups: list[list[tuple[float, float]]] = []
    for end, t in late:
        if groups and end - groups[-1][-1][0] <= TOGETHER_S:
            groups[-1].append((end, t))
        else:
            groups.append([(end, t)])
    return [Pause(group[0][0], max(t for _, t in group), len(group)) for group in groups]


def period(found_stalls: Sequence[Pause]) -> float | None:
    """Seconds between stalls if they are regular; None if they are not, or if there are too few."""
    ends = [stall.end_s for stall in found_stalls]
    gaps = [b - a for a, b in itertools.pairwise(ends)]
    if len(ends) < FEW:
        return None
    middle = statistics.median(gaps)
    # A pause that delayed no request makes a gap of two periods. It would be unlikely for most gaps to be of
    # this kind: then the shortest gaps are something else, and any long gap is close to a multiple of them.
    times = [max(1, round(gap / middle)) for gap in gaps]
    if times.count(1) < FEW - 1:
        return None
    folded = [gap / time for gap, time in zip(gaps, times, strict=True)]
    return statistics.fmean(folded) if statistics.pstdev(folded) <= REGULAR * middle else None


def regular_ones(found_stalls: Sequence[Pause]) -> list[Pause]:
    """The most stalls that follow each other at one period, if others came in between; [] if those that do
    may be chance.

    A period is tried for each pair of stalls. If stalls come at random, the next one is within `CLOSE` of
    where it is expected with the probability 1 - e^(-2 · CLOSE · period · rate).
    """
    ends = [stall.end_s for stall in found_stalls]
    if len(ends) <= FEW:
        return []
    rate = len(ends) / (ends[-1] - ends[0]) if ends[-1] > ends[0] else math.inf
    best: list[Pause] = []
    pairs = list(itertools.combinations(range(len(ends)), 2))
    for first, second in pairs:
        every = ends[second] - ends[first]
        chain = [first, second]
        while (following := _next(ends, chain[-1], every)) is not None:
            chain.append(following)
        hit_by_chance = 1 - math.exp(-2 * CLOSE * every * rate)
        if len(chain) > max(FEW, len(best)) and len(pairs) * hit_by_chance ** (len(chain) - 2) < CHANCE:
            best = [found_stalls[place] for place in chain]
    return best


def _next(ends: Sequence[float], last: int, every: float) -> int | None:
    """The stall that is the nearest to one period after `last`, if it is close enough."""
    due = ends[last] + every
    near = [place for place in range(last + 1, len(ends)) if abs(ends[place] - due) <= CLOSE * every]
    return min(near, key=lambda place: abs(ends[place] - due), default=None)


def pauses(session: Session) -> Finding:
    """Looks at the light stream; sends nothing."""
    topic, light = Topic.PAUSES, session.light
    if light is None:
        return cannot_tell(topic, Reason.NO_TIME, "there was no time left", "--thorough, or fewer routes")
    answered = [a for a in light.responses if a.response_s is not None]
    if len(answered) < len(light.responses) * 0.9 or len(answered) < 20:
        return cannot_tell(
            topic,
            Reason.REFUSED if any(a.refused for a in light.responses) else Reason.FAILED,
            f"{len(light.responses) - len(answered)} of {len(light.responses)} requests were not answered",
            "a lower rate",
        )
    length_s = light.responses[-1].due_s
    rate = len(light.responses) / length_s
    noticed_s = max(SURE / rate, AT_LEAST_S)
    own = _generator_stalls(light.responses)
    seen = stalls(light.responses)
    took = [a.response_s for a in answered if a.response_s is not None]
    evidence = [
        f"{plural(len(answered), 'request')} in {length_s:.0f} s, median "
        f"{amount(statistics.median(took), 's')}, "
        f"longest "
        f"{amount(max(took), 's')}; a pause of {amount(noticed_s, 's')} would delay at least one of "
        f"them in 95 cases of 100."
    ]
    if own > len(answered) / 100:
        return cannot_tell(
            topic,
            Reason.GENERATOR,
            f"{plural(own, 'request')} were sent late by jostle itself",
            "a quieter machine, or the server on another one",
            evidence,
        )
    if not seen:
        return found(
            topic,
            f"No pause was seen in {length_s:.0f} s.",
            evidence,
            notable=False,
            figures={"longest": Estimate(max(took), n=len(took))},
        )
    evidence.append(
        "Stalls at "
        + ", ".join(f"{s.end_s - s.length_s:.2f} s ({amount(s.length_s, 's')})" for s in seen[:12])
        + (f" and {len(seen) - 12} more." if len(seen) > 12 else ".")
    )
    long = [stall for stall in seen if stall.length_s >= SURELY_S]
    pressure = session.pressure or 0.0
    # Stalls caused by the machine are short and never regular, but may come in between those of the server.
    amid_others = [regular_ones(long)] if len(long) > FEW else []
    for those in (long, seen, *amid_others) if pressure <= BUSY else (long, *amid_others):
        if (every := period(those)) is not None:
            longest = max(stall.length_s for stall in those)
            figures = {"every": Estimate(every, n=len(those)), **_lengths(those)}
            text = f"It pauses every {amount(every, 's')}, for {amount(longest, 's')} or more."
            return found(topic, text, evidence, figures)
    longest = max(stall.length_s for stall in seen)
    if pressure <= BUSY and len(long) >= FEW:
        return found(
            topic,
            f"It pauses at irregular times, {plural(len(long), 'time')} in {length_s:.0f} s, the longest for "
            f"{amount(longest, 's')}.",
            evidence,
            _lengths(long),
        )
    waited = f" (threads waited for a core for {amount(pressure, 'share')} of the time)" if pressure else ""
    return cannot_tell(
        topic,
        Reason.AMBIGUOUS,
        f"some responses were late, by {amount(longest, 's')} at most and at irregular times, and the "
        f"machine may be the cause{waited}",
        "a quieter machine, and a longer stream: a larger --budget",
        evidence,
        _lengths(seen),
    )


def _lengths(those: Sequence[Pause]) -> dict[str, Estimate]:
    lengths = [stall.length_s for stall in those]
    return {
        "longest": Estimate(max(lengths), n=len(lengths)),
        "typical": Estimate(statistics.median(lengths), n=len(lengths)),
    }


def _generator_stalls(responses: Sequence[Response]) -> int:
    """How many requests were sent late although the previous response had come."""
    count, free_s = 0, 0.0
    for response in responses:
        if response.sent_s is not None:
            count += response.sent_s - max(response.due_s, free_s) > OWN_S
        free_s = max(free_s, response.end_s if response.end_s is not None else free_s)
    return count
