"""Which discipline a server has, inferred from bursts: coarse responses first, each with its own "undecided".

The coarse responses need no candidate. The discipline is the candidate family that explains all bursts best,
provided that it explains them well, clearly better than any other family, and does so in each probe
separately. Anything less is "undecided", with a reason and a remedy.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Generic, TypeVar

import numpy as np

from jostle.explain.discipline.burst import Burst
from jostle.explain.discipline.candidates import SLICE_STEP, Candidate, Family, candidates, finer_slices
from jostle.explain.discipline.fit import (
    DOUBTFUL_AT_ENDS,
    MIN_ERROR,
    TOGETHER_S,
    Fit,
    Observed,
    RepeatDifference,
)
from jostle.explain.reason import Reason

__all__ = ["LEAD", "MAX_ERROR", "Decision", "Inference", "Range", "infer", "slots_of"]

LEAD = 10.0
"""Required lead in BIC over the best candidate of any other family: very strong evidence [Kass and Raftery,
1995].
"""
LEAD_AMONG_OPEN = 75.0
"""Required lead where candidates leave choices open: choices absorb noise, so a lead is weaker evidence. Used
for a random order against random order in batches, and for one number of queues against another. In 800
simulated runs of batches in random order, a plain random order led by 60 at most.
"""
LEAD_OF_A_SLICE = 60.0
"""Required lead over sharing without slices before a slice is reported as longer than 0. Many slices are
tried, and noise favours one of them: in 200 simulated runs of a server that shared without slices, it led by
22 at most.
"""
OPEN = (Family.RANDOM_ORDER, Family.GATED_RANDOM_ORDER)
AKIN = (*OPEN, Family.GATED_LAST_COME, Family.GATED_SLOT)
MAX_ERROR = 0.10
"""Largest accepted root mean square of log errors: no wrong discipline was ever seen to fit this well, and
the right one seldom fits worse.
"""
NEARLY_AS_GOOD = 0.02
"""A parameter value is not excluded if its error exceeds the best one by no more than this: the error does
not vary smoothly with the parameters.
"""
NOISY = 0.10
DRIFT = 0.08
SIZES_DIFFER = 1.5
MAX_WORKERS_TRIED = 12
TOGETHER, APART = 0.03, 0.05
"""The share of a burst's time, at its end, within which half of its responses leave: below the first all are
taken to leave together, from the second on each in its own time.
"""

T = TypeVar("T")


@dataclass(frozen=True)
class Decision(Generic[T]):
    """A decision, or the reason why there is none: exactly one of `value` and `reason` is None."""

    value: T | None = None
    reason: Reason | None = None


@dataclass(frozen=True)
class Range:
    """Bounds of a number, both inclusive; `high` is None if it has no upper bound."""

    low: float
    high: float | None


@dataclass(frozen=True)
class Inference:
    """What was inferred about a server.

    `workers`, `threads`, `slice`: None if the discipline has no such number, or is not known.
    """

    overtaking: Decision[bool]
    """Whether short requests are answered before long ones that began earlier."""

    at_once: Decision[Range]
    """How many requests are worked on at the same time."""

    leave_as_computed: Decision[bool]
    """Whether a short request's response leaves before the others are computed."""

    discipline: Decision[Family]
    workers: Range | None = None
    """Workers, cores or processes of the discipline."""

    threads: Range | None = None
    """Threads of each process."""

    slice: Range | None = None
    """In seconds; 0 if it is too short to be seen. Of gated answers: from which service time on one waits."""

    newest_first: bool | None = None
    best: Candidate | None = None
    """The candidate that fits best, even if the discipline is not decided."""

    rival: Candidate | None = None
    """The best candidate of another family."""

    error: float | None = None
    """Root mean square of the best candidate's log errors."""

    lead: float | None = None
    """The best candidate's distance in BIC from `rival`."""

    typical: float | None = None
    """The error of all bursts but the worst sixth, in the probe that is explained worst."""

    unlike: RepeatDifference | None = None
    """The largest difference between repeats."""


def infer(bursts: Sequence[Burst], *, spread: float, unsteady: float = 0.0) -> Inference:
    """What the bursts of `design.bursts_to_send` tell about a server.

    `spread`: standard deviation of the service time, measured alone, relative to its typical value.
    `unsteady`: the machine's unsteadiness, as returned by `fit.unsteadiness`.
    """
    observed = Observed(bursts, unsteady)
    at_once = _at_once(bursts, spread, unsteady)
    if observed.bursts and _mostly_unanswered(bursts):
        at_once = Decision(reason=Reason.REFUSED)
    if at_once.value is None:
        nothing: Decision[bool] = Decision(reason=at_once.reason)
        return Inference(nothing, at_once, nothing, Decision(reason=at_once.reason))
    floor = max(MIN_ERROR, spread / 2)
    tried = _fits(observed, at_once.value, floor)
    fits = [fit for fit in tried if not fit.refuted]
    best = min(fits, key=lambda fit: fit.bic(floor))
    others = [fit for fit in fits if fit.candidate.family is not best.candidate.family]
    rival = min(others, key=lambda fit: fit.bic(floor))
    lead = rival.bic(floor) - best.bic(floor)
    reason = _objection(observed, tried, best, lead, spread, unsteady, floor)
    found = Inference(
        overtaking=_overtaking(bursts, at_once.value),
        at_once=at_once,
        leave_as_computed=_leave_as_computed(bursts, spread),
        discipline=Decision(reason=reason) if reason else Decision(best.candidate.family),
        best=best.candidate,
        rival=rival.candidate,
        error=best.error(),
        lead=lead,
        typical=_typical_error(observed, best),
        unlike=observed.most_unlike(),
    )
    return found if reason else _with_parameters(found, fits, best, unsteady, floor)


def _mostly_unanswered(bursts: Sequence[Burst]) -> bool:
    ends = [end for burst in bursts for end in burst.ends]
    return sum(end is None for end in ends) > len(ends) / 2


def _at_once(bursts: Sequence[Burst], spread: float, unsteady: float) -> Decision[Range]:
    """Bounds from bursts of k equal requests, each of service time S, that took T; no candidate is needed.

    At least kS/T, as no server does more work than it has cores for, and at most (k − 1)/(T/S − 1), as no
    server idles while a request waits [Graham, 1969]. S was measured alone, maybe while the machine was slow:
    for the first bound it is no more than the soonest responses of the bursts took.
    """
    ratios: dict[int, list[float]] = {}
    soonest: list[float] = []
    for burst in bursts:
        if len({job.demand for job in burst.jobs}) == 1 and None not in burst.ends:
            demand, first = burst.jobs[0].demand, min(job.at for job in burst.jobs)
            ends = [end for end in burst.ends if end is not None]
            if max(job.at for job in burst.jobs) - first < demand / 4:
                ratios.setdefault(len(ends), []).append((max(ends) - first) / demand)
                responses = (end - job.at for job, end in zip(burst.jobs, ends, strict=True))
                soonest.append(min(responses) / demand)
    ratios.pop(1, None)
    if not ratios:
        return Decision(reason=Reason.NOT_SATURATED)
    service = min(1.0, float(np.median(soonest)))
    typical = {count: float(np.median(times)) for count, times in ratios.items()}
    off = 3 * spread + 4 * unsteady  # a machine whose speed changes has long tails
    slack = {count: 1 + max(0.05, off / math.sqrt(len(times))) for count, times in ratios.items()}
    longest, shortest = typical, typical
    if unsteady:  # the median of a few bursts may be as far off as a single one
        longest = {count: max(times) for count, times in ratios.items()}
        shortest = {count: min(times) for count, times in ratios.items()}
    largest = sorted(typical)[-2:]  # a disturbance is the smallest part of these
    low = min(count * service / (longest[count] * slack[count]) for count in largest)
    high = math.inf
    for count, time in shortest.items():
        if time / slack[count] > 1:
            high = min(high, (count - 1) / (time / slack[count] - 1))
    largest_burst = max(typical)
    if typical[largest_burst] < 1.3:
        return Decision(reason=Reason.NOT_SATURATED)
    lower = max(1, math.ceil(low - 0.05))
    # Nothing is known about more requests than the largest burst had.
    return Decision(Range(lower, None if high >= largest_burst else max(lower, math.floor(high))))


def _fits(observed: Observed, at_once: Range, floor: float) -> list[Fit]:
    largest_burst = max(len(served) for served in observed.bursts)
    low = max(1, math.floor(0.8 * at_once.low))
    high = min(
        largest_burst - 1, math.ceil(1.25 * (at_once.high or largest_burst)) + 1, low + MAX_WORKERS_TRIED
    )
    demands = [float(demand) for demand in np.unique(observed.demand)]
    fits = [observed.fit(candidate) for candidate in candidates(range(low, high + 1), demands, largest_burst)]
    for family in (
        Family.SHARING,
        Family.LEAST_ATTAINED,
        Family.LOCKED_THREADS,
        Family.SHARED_QUEUES,
    ):
        sliced = [fit for fit in fits if fit.candidate.family is family and fit.candidate.slice]
        # The error is not smooth in the slice: the coarse slice next to the true one may fit worse than one
        # far away. So every coarse slice is refined.
        for coarse in sorted({fit.candidate.slice for fit in sliced if fit.candidate.slice}):
            near = [fit for fit in sliced if fit.candidate.slice == coarse]
            best = min(near, key=lambda fit: fit.bic(floor)).candidate
            fits += [observed.fit(finer) for finer in finer_slices(best)]
    return fits


def _objection(
    observed: Observed,
    tried: Sequence[Fit],
    best: Fit,
    lead: float,
    spread: float,
    unsteady: float,
    floor: float,
) -> Reason | None:
    """Why the best candidate cannot be accepted as the verdict; None if it can."""
    if max(observed.demand) < SIZES_DIFFER * min(observed.demand):
        return Reason.EQUAL_TIMES
    if spread > NOISY:
        return Reason.NOISY
    if abs(observed.drift()) > max(DRIFT, unsteady):
        return Reason.DRIFTS
    repeat = observed.repeat_error() or 0.0
    typical = _typical_error(observed, best)
    if max(best.error(), typical) > MAX_ERROR:
        return Reason.NOISY if repeat > MAX_ERROR / 2 else Reason.NO_FIT
    if best.varies_with_size():
        return Reason.NO_FIT
    fits = [fit for fit in tried if not fit.refuted]
    if lead < LEAD or not _agree(observed, fits, best, floor):
        return Reason.AMBIGUOUS
    if best.candidate.family in OPEN and not _clearly_random(tried, best, floor):
        return Reason.AMBIGUOUS
    if _one_burst_decides(fits, best, floor):
        return Reason.AMBIGUOUS
    return None


def _typical_error(observed: Observed, best: Fit) -> float:
    """The typical error in whichever probe is explained worse."""
    probes = (observed.equal, ~observed.equal)
    return max(best.typical_error(probe) for probe in probes if probe.any())


def _one_burst_decides(fits: Sequence[Fit], best: Fit, floor: float) -> bool:
    """Whether the lead over some family vanishes without the burst that this family explains worst. With
    noisy times a single burst proves little: a request may have come just before or just after a worker
    became free.
    """
    rivals: dict[Family, Fit] = {}
    for fit in fits:
        family = fit.candidate.family
        if family is not best.candidate.family and (
            family not in rivals or fit.bic(floor) < rivals[family].bic(floor)
        ):
            rivals[family] = fit
    return any(
        rival.bic(floor, rival.but_worst()) < best.bic(floor, rival.but_worst()) + LEAD
        for rival in rivals.values()
    )


def _agree(observed: Observed, fits: Sequence[Fit], best: Fit, floor: float) -> bool:
    """Whether no other family explains one of the probes, or one half of the bursts, clearly better than
    `best` does.
    """
    even = observed.burst % 2 == 0
    others = [fit for fit in fits if fit.candidate.family is not best.candidate.family]
    for part in (observed.equal, ~observed.equal, even, ~even):
        if not part.any():
            return False
        limit = best.bic(floor, part) - LEAD
        if any(fit.bic(floor, part) < limit for fit in others):
            return False
    return True


def _clearly_random(tried: Sequence[Fit], best: Fit, floor: float) -> bool:
    """Whether `best`, which leaves choices open, cannot be a fixed order or a batch in disguise of noise. It
    has to lead over all candidates akin to it, even those whose choices were refuted as not random.
    """
    akin = [
        fit
        for fit in tried
        if fit.candidate.family in AKIN and fit.candidate.family is not best.candidate.family
    ]
    lead = min((fit.bic(floor) - best.bic(floor) for fit in akin), default=math.inf)
    return lead >= LEAD_AMONG_OPEN and best.at_ends <= DOUBTFUL_AT_ENDS


def _with_parameters(
    found: Inference, fits: Sequence[Fit], best: Fit, unsteady: float, floor: float
) -> Inference:
    """Adds the parameters of the discipline: the range of all that explain the bursts nearly as well."""
    any_queue = best.candidate.family is Family.OWN_QUEUES and not best.candidate.in_turn
    limit = best.bic(floor) + (LEAD_AMONG_OPEN if any_queue else LEAD)
    near = [
        fit.candidate
        for fit in fits
        if fit.candidate.family is best.candidate.family
        and (fit.bic(floor) <= limit or fit.error() <= best.error() + NEARLY_AS_GOOD)
    ]
    workers = Range(min(one.workers for one in near), max(one.workers for one in near))
    threads = slice_s = None
    newest = None
    if best.candidate.threads is not None:
        counts = [one.threads for one in near if one.threads is not None]
        threads = Range(min(counts), max(counts))
    if best.candidate.family in (Family.SHARING, Family.WATCHDOG, Family.GATED_ANSWERS):
        slices = [one.slice or 0.0 for one in near]
        if best.candidate.family is Family.SHARING and _fits_without_slices(fits, best, floor):
            slices.append(0.0)
        # Values between two steps were not tried. And rescaling bursts to the machine's usual speed also
        # rescales the server's slice, which is a fixed length of time.
        margin = SLICE_STEP**2 * math.exp(unsteady)
        slice_s = Range(min(slices) / margin, max(slices) * margin)
        orders = {one.newest_first for one in near if one.slice}
        newest = orders.pop() if slice_s.low and len(orders) == 1 else None
    return replace(found, workers=workers, threads=threads, slice=slice_s, newest_first=newest)


def _fits_without_slices(fits: Sequence[Fit], best: Fit, floor: float) -> bool:
    """Whether sharing without slices explains the bursts, and hardly worse than `best`."""
    even = (fit for fit in fits if fit.candidate.family is Family.SHARING and not fit.candidate.slice)
    max_bic = best.bic(floor) + LEAD_OF_A_SLICE
    return any(fit.error() <= MAX_ERROR and fit.bic(floor) <= max_bic for fit in even)


def _overtaking(bursts: Sequence[Burst], at_once: Range) -> Decision[bool]:
    """From bursts with plugs: whether requests of at most half a plug's demand, sent after the plugs, end
    before the first plug does. Bursts whose plugs may have left a worker idle tell nothing.
    """
    if at_once.high is None:
        return Decision(reason=Reason.NOT_SATURATED)
    before: list[bool] = []
    for burst in bursts:
        if not burst.jobs:  # no connection
            continue
        longest = max(job.demand for job in burst.jobs)
        first = min(job.at for job in burst.jobs)
        pairs = list(zip(burst.jobs, burst.ends, strict=True))
        plugs = [
            end
            for job, end in pairs
            if job.at - first <= TOGETHER_S and job.demand == longest and end is not None
        ]
        short = [end for job, end in pairs if job.demand <= longest / 2 and end is not None]
        if short and len(plugs) >= at_once.low:
            before += [end < 0.95 * min(plugs) for end in short]
    if not before:
        return Decision(reason=Reason.EQUAL_TIMES)
    share = sum(before) / len(before)
    if 0.2 < share < 0.8:
        return Decision(reason=Reason.DIVIDED)
    return Decision(share >= 0.8)


def _leave_as_computed(bursts: Sequence[Burst], spread: float) -> Decision[bool]:
    """From bursts of several sizes: whether responses are spread over time or all leave together at the
    end."""
    spreads = []
    for burst in bursts:
        demands = [job.demand for job in burst.jobs]
        ends = [end for end in burst.ends if end is not None]
        if len(ends) > 2 and max(demands) >= 2 * min(demands):
            spreads.append((max(ends) - float(np.median(ends))) / max(ends))
    if not spreads:
        return Decision(reason=Reason.EQUAL_TIMES)
    typical = float(np.median(spreads))
    if TOGETHER < typical < max(APART, spread):
        return Decision(reason=Reason.NOISY)
    return Decision(typical >= APART)


def slots_of(waits: Sequence[Burst], spread: float) -> Decision[Range]:
    """How many requests of equal bursts are served at a time; without an upper bound if all of them were."""
    observed = Observed(waits)
    if not observed.bursts or _mostly_unanswered(waits):
        return Decision(reason=Reason.REFUSED)
    largest_burst = max(len(served) for served in observed.bursts)
    floor = max(MIN_ERROR, spread / 2)
    fits = [observed.fit(Candidate(Family.FIRST_COME, count)) for count in range(1, largest_burst + 1)]
    best = min(fits, key=lambda fit: fit.bic(floor))
    if best.error() > MAX_ERROR:
        steps = _steps(waits)
        if steps is not None:
            return Decision(Range(steps, steps))
        return Decision(reason=Reason.NOISY if spread > NOISY else Reason.NO_FIT)
    near = [fit.candidate.workers for fit in fits if fit.bic(floor) <= best.bic(floor) + LEAD]
    return Decision(Range(min(near), None if max(near) == largest_burst else max(near)))


STEP = 0.4
"""Two responses of a burst of equal requests belong to different steps of its staircase if this share of a
service time lies between them.
"""

MIN_STEPS, MOSTLY = 6, 0.75
"""So many whole steps must have been seen, and this share of them must be of one size."""


def _steps(bursts: Sequence[Burst]) -> int | None:
    """How many responses come at a time, where a machine or a server that stands still now and then makes the
    steps of the staircase differ in length, but not in height; None if they are of several heights.
    """
    heights: list[int] = []
    for burst in bursts:
        ends = sorted(end for end in burst.ends if end is not None)
        if len(ends) < len(burst.jobs) or not ends:
            continue
        demand = min(burst.jobs[0].demand, ends[0])
        breaks = [place for place in range(1, len(ends)) if ends[place] - ends[place - 1] >= STEP * demand]
        if breaks:
            heights += [second - first for first, second in pairwise([0, *breaks])]
    if len(heights) < MIN_STEPS:
        return None
    usual = max(set(heights), key=heights.count)
    return usual if heights.count(usual) >= MOSTLY * len(heights) else None
