"""How well a candidate explains the bursts: predicted against observed completion times, on a log scale.

Requests of a burst that arrived together with the same demand cannot be told apart, because the network or an
event loop may reorder them. Their times are sorted before they are compared.

A shared machine may change its speed from one second to the next. As far as it was seen to do so between
bursts, each burst is allowed a factor of its own, at a price: without it, even the right candidate would be
off by as much as the speed changes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jostle.explain.discipline.burst import Burst
from jostle.explain.discipline.candidates import Candidate, Family
from jostle.explain.discipline.unknown_order import Explained, Served, any_order, any_queue
from jostle.generator.bursts import BurstRequest, simulated_answers

__all__ = ["MIN_ERROR", "TOGETHER_S", "Fit", "Observed", "RepeatDifference", "unsteadiness"]

TOGETHER_S = 0.0008
"""Requests that arrive at most this far apart may be served in either order."""
MAX_RESCALED = math.log(1.1)
"""All service times together may differ from those measured alone by this much, as a logarithm."""
STEADY, MIN_SPEEDS = 0.05, 4
"""A machine whose ln speed varies by no more than this counts as steady, as the noise of single requests
looks the same; fewer measurements of the speed than this are not judged.
"""
MAX_SPEED_CHANGE = 0.2
"""The most unsteadiness that is allowed for, however unsteady the machine is."""
REACH = 2.0
"""How far a burst's own factor may go, in standard deviations of the machine's ln speed."""
MAX_CHANCE_DEVIATION = 3.0
"""Standard errors up to which an apparent dependence of the machine's speed on the burst size is chance."""
MIN_ERROR = 0.01
"""Smaller errors are no merit of a candidate: clock, network and timers alone cause errors of this size."""
MAX_BURST_ERROR = 0.3
"""The largest error of a burst that is counted. If noise changes which request is next, all that follow in
the burst are off, and by a lot if their sizes differ. That is still a single accident, so no burst counts for
more than this. A candidate that is so far off in more than one burst of nine is rejected nevertheless.
"""
ALIKE = 0.02
"""Timer phases (or other conditions that a burst may have met) whose error is this close to the best one's
are considered equally possible.
"""
MIN_CHOICES = 20
MAX_RANK_DEVIATION = 3.5
"""Standard errors by which the mean rank of all choices may differ from that of a random order."""
MAX_END_PREFERENCE = 5.0
"""Standard errors by which choices may prefer the ends of the line before a random order is excluded. The bar
is high because a random order that is excluded by chance would let another discipline win.
"""
DOUBTFUL_AT_ENDS = 2.5
"""From here on a random order is not reported even if it is not excluded: noise may have hidden a rule such
as "the last first".
"""

Floats = NDArray[np.float64]
Part = NDArray[np.bool_] | None
"""A mask of the requests to consider; None: all."""


@dataclass(frozen=True)
class Fit:
    """How a candidate explains each request, in the order of `Observed`.

    `residuals`: log of observed over predicted time. `costs`: the price, in nats, of what the candidate
    leaves open, spread over the requests of each burst. `bursts`: the burst that each request belongs to.
    `paces`: for each burst, the log of observed over predicted time before its own factor is applied; all
    zero if the machine is steady. `at_ends`: standard errors by which inferred choices prefer the ends of the
    line; 0 without choices. `refuted`: the choices do not look random although the candidate says so.
    """

    candidate: Candidate
    residuals: Floats
    costs: Floats
    bursts: NDArray[np.intp]
    paces: Floats
    at_ends: float = 0.0
    refuted: bool = False

    def error(self, part: Part = None) -> float:
        """Root mean square of log errors; each burst contributes at most `MAX_BURST_ERROR`."""
        chosen = self.residuals if part is None else self.residuals[part]
        bursts = self.bursts if part is None else self.bursts[part]
        if not len(chosen):
            return 0.0
        sizes = np.bincount(bursts)
        squares = np.minimum(np.bincount(bursts, chosen**2), sizes * MAX_BURST_ERROR**2)
        return math.sqrt(float(squares.sum()) / len(chosen))

    def typical_error(self, part: Part = None) -> float:
        """The error of all bursts but the worst sixth, in which noise may have changed the order."""
        chosen = self.residuals if part is None else self.residuals[part]
        bursts = self.bursts if part is None else self.bursts[part]
        sizes = np.bincount(bursts)
        squares = np.bincount(bursts, chosen**2)[sizes > 0] / sizes[sizes > 0]
        kept = np.sort(squares)[: max(1, math.ceil(len(squares) * 5 / 6))]
        return float(np.sqrt(np.mean(kept)))

    def but_worst(self) -> NDArray[np.bool_]:
        """A mask of all requests but those of the burst that this fit explains worst."""
        squares = np.bincount(self.bursts, self.residuals**2) / np.bincount(self.bursts)
        others: NDArray[np.bool_] = self.bursts != int(np.argmax(squares))
        return others

    def varies_with_size(self) -> bool:
        """Whether the deviation from the prediction depends on the size of the burst, beyond chance. A change
        of the machine's speed would be independent of how many requests there are.
        """
        sizes = np.log(np.bincount(self.bursts))
        away = sizes - sizes.mean()
        spread = float(away @ away)
        if len(sizes) < 3 or spread == 0 or not self.paces.any():
            return False
        slope = float(away @ self.paces) / spread
        left = self.paces - self.paces.mean() - slope * away
        error = math.sqrt(float(left @ left) / (len(sizes) - 2) / spread)
        return abs(slope) > MAX_CHANCE_DEVIATION * error

    def bic(self, floor: float, part: Part = None) -> float:
        """n ln(SSE/n) + k ln n, plus twice the cost of what is left open. Errors below `floor` count as
        `floor`.

        The requests of a burst share its noise, so n is the number of bursts: each is one observation.
        """
        bursts = self.bursts if part is None else self.bursts[part]
        costs = self.costs if part is None else self.costs[part]
        n = 1 + int(np.count_nonzero(bursts[1:] != bursts[:-1]))  # they are sorted
        cost = float(costs.sum()) * n / len(bursts)
        error = max(self.error(part), floor)
        return 2 * n * math.log(error) + self.candidate.parameters() * math.log(max(2, n)) + 2 * cost


@dataclass(frozen=True)
class RepeatDifference:
    """A request with demand `demand` took from `low` to `high`, all in seconds, in `bursts` repeats of the
    same burst.
    """

    demand: float
    low: float
    high: float
    bursts: int


def unsteadiness(paces: Sequence[float]) -> float:
    """Standard deviation of ln speed from one burst to the next; 0 if the machine is steady, so that bursts
    need no correction. `paces`: how long the same request took before each burst, in any unit.
    """
    logs = np.log(paces)
    if len(logs) < MIN_SPEEDS or float(np.std(logs)) <= STEADY:
        return 0.0
    return float(np.sqrt(np.mean(np.diff(logs) ** 2) / 2))


class Observed:
    """Bursts prepared for comparison; requests that were never answered are left out, as if never sent.

    `unsteady`: the machine's unsteadiness, as returned by `unsteadiness`.
    """

    def __init__(self, bursts: Sequence[Burst], unsteady: float = 0.0) -> None:
        self.bursts = [served for burst in bursts if (served := _served(burst))]
        self._unsteady = min(unsteady, MAX_SPEED_CHANGE)
        flat = [job for served in self.bursts for job in served]
        self._sizes = np.array([len(served) for served in self.bursts], dtype=np.intp)
        self._ends = np.cumsum(self._sizes)
        self._parts = [slice(end - size, end) for size, end in zip(self._sizes, self._ends, strict=True)]
        self.burst = np.repeat(np.arange(len(self.bursts)), self._sizes)
        self._at = np.array([job.at for job in flat])
        self._group = np.array([job.group for job in flat])
        self._requests = [_requests(served, [job.at for job in served]) for served in self.bursts]
        self._gathered = [_requests(served, _gathered(served)) for served in self.bursts]
        self.demand = np.array([job.demand for job in flat])
        self.equal = np.array([_all_equal(served) for served in self.bursts], dtype=bool)[self.burst]
        self.seen = self._logs(np.array([job.end for job in flat]))

    def __len__(self) -> int:
        return len(self.demand)

    def _logs(self, ends: Floats) -> Floats:
        """Logs of response times, sorted within each group of requests that cannot be told apart."""
        logs = np.log(np.maximum(ends - self._at, 1e-9))
        sorted_logs: Floats = logs[np.lexsort((logs, self._group, self.burst))]
        return sorted_logs

    def fit(self, candidate: Candidate) -> Fit:
        specs = candidate.specs()
        at_ends, refuted = 0.0, False
        if not specs:
            explained = [self._explained(served, candidate) for served in self.bursts]
            if candidate.family is not Family.OWN_QUEUES:
                at_ends = _at_ends(explained)
                refuted = at_ends > MAX_END_PREFERENCE or not _random(explained)
            ends = [end for burst in explained for end in burst.ends]
            costs = [burst.cost / len(burst.ends) for burst in explained for _ in burst.ends]
        else:
            met = [simulated_answers(spec, self._requests) for spec in specs]
            if candidate.gathers:
                met += [simulated_answers(spec, self._gathered) for spec in specs]
            ends, costs = self._best_met(met)
        residuals = self.seen - self._logs(np.array(ends))
        shift = float(np.clip(np.median(residuals), -MAX_RESCALED, MAX_RESCALED))
        residuals, paid = residuals - shift, np.array(costs)
        paces = np.zeros(len(self.bursts))
        if self._unsteady:
            # A factor for each burst, from a normal distribution that is cut off at `REACH`.
            paces = self._medians(residuals)
            factors = np.clip(paces, -REACH * self._unsteady, REACH * self._unsteady)
            residuals = residuals - factors[self.burst]
            paid = paid + ((factors / self._unsteady) ** 2 / 2 / self._sizes)[self.burst]
        return Fit(candidate, residuals, paid, self.burst, paces, at_ends, refuted)

    def _medians(self, values: Floats) -> Floats:
        """The median of each burst; vectorised, as there are many bursts with few requests each."""
        inorder = values[np.lexsort((values, self.burst))]
        upper, lower = self._ends - (self._sizes + 1) // 2, self._ends - self._sizes // 2 - 1
        medians: Floats = (inorder[lower] + inorder[upper]) / 2
        return medians

    def _best_met(self, met: Sequence[list[list[int | None]]]) -> tuple[list[float], list[float]]:
        """For each burst, the simulated ends that explain it best among all conditions that it may have met,
        and the cost of this choice: the log of all conditions over those that explain it about as well.
        """
        each = [[(end or 0) / 1e9 for burst in responses for end in burst] for responses in met]
        if len(each) == 1:
            return each[0], [0.0] * len(each[0])
        off = np.array([self.seen - self._logs(np.array(ends)) for ends in each])
        squares = np.add.reduceat(off**2, self._ends - self._sizes, axis=1)
        of_bursts = np.sqrt(squares / self._sizes).T
        ends, costs = [], []
        for part, errors in zip(self._parts, of_bursts, strict=True):
            best = int(np.argmin(errors))
            alike = int(np.count_nonzero(errors <= errors[best] + ALIKE))
            size = part.stop - part.start
            ends += each[best][part]
            costs += [math.log(len(each) / alike) / size] * size
        return ends, costs

    @staticmethod
    def _explained(served: Sequence[Served], candidate: Candidate) -> Explained:
        if candidate.family is Family.OWN_QUEUES:
            return any_queue(served, candidate.workers)
        batches = candidate.family is Family.GATED_RANDOM_ORDER
        return any_order(served, candidate.workers, batches=batches)

    def repeat_error(self) -> float | None:
        """Root mean square of log differences among repeats of a burst, which no candidate can explain.

        None if no burst was repeated.
        """
        squares, freedom = 0.0, 0
        for repeats in self._repeats():
            rows = self._rows(repeats)
            squares += float(((rows - rows.mean(axis=0)) ** 2).sum())
            freedom += rows[1:].size
        return math.sqrt(squares / freedom) if freedom else None

    def most_unlike(self) -> RepeatDifference | None:
        """The request of a repeated burst whose times differ by the largest factor; None if no burst was
        repeated.
        """
        found: RepeatDifference | None = None
        demands = self.demand[np.lexsort((self._group, self.burst))]
        for repeats in self._repeats():
            times = np.exp(self._rows(repeats))
            low, high = times.min(axis=0), times.max(axis=0)
            place = int(np.argmax(high / low))
            if found is None or high[place] / low[place] > found.high / found.low:
                demand = float(demands[self.burst == repeats[0]][place])
                found = RepeatDifference(demand, float(low[place]), float(high[place]), len(repeats))
        return found

    def drift(self) -> float:
        """How much longer, as a logarithm, bursts took in the second half than in the first."""
        changes = []
        for repeats in self._repeats():
            early = [index for index in repeats if index < len(self.bursts) / 2]
            late = [index for index in repeats if index >= len(self.bursts) / 2]
            if early and late:
                change = self._rows(late).mean(axis=0) - self._rows(early).mean(axis=0)
                changes.append(float(np.median(change)))
        return float(np.median(changes)) if changes else 0.0

    def _rows(self, bursts: Sequence[int]) -> Floats:
        """Logs of response times, one row for each of `bursts`, which must consist of the same requests."""
        return np.array([self.seen[self.burst == index] for index in bursts])

    def _repeats(self) -> list[list[int]]:
        """Groups of at least two bursts that consist of the same requests."""
        kinds: dict[tuple[tuple[int, float], ...], list[int]] = {}
        for index, served in enumerate(self.bursts):
            kind = tuple((round(job.at / TOGETHER_S / 2), job.demand) for job in served)
            kinds.setdefault(kind, []).append(index)
        return [bursts for bursts in kinds.values() if len(bursts) > 1]


def _served(burst: Burst) -> list[Served]:
    """The answered requests, sorted by arrival; those that cannot be told apart share a group."""
    pairs = [(job, end) for job, end in zip(burst.jobs, burst.ends, strict=True) if end is not None]
    pairs.sort(key=lambda pair: pair[0].at)
    served: list[Served] = []
    last: dict[float, Served] = {}
    for job, end in pairs:
        before = last.get(job.demand)
        together = before is not None and job.at - before.at <= TOGETHER_S
        group = before.group if before is not None and together else len(served)
        last[job.demand] = Served(job.at, job.demand, end, group, job.connection)
        served.append(last[job.demand])
    return served


def _requests(served: Sequence[Served], times: Sequence[float]) -> list[BurstRequest]:
    """The requests in the form that the simulator takes, sent at `times`."""
    return [
        (round(at * 1e9), round(job.demand * 1e9), job.connection)
        for at, job in zip(times, served, strict=True)
    ]


def _gathered(served: Sequence[Served]) -> list[float]:
    """Arrival times, the first few moved to the same instant: a sleeping worker takes a moment to wake."""
    first = served[0].at
    return [first if job.at - first <= TOGETHER_S else job.at for job in served]


def _all_equal(served: Sequence[Served]) -> bool:
    """Whether all requests have the same size and arrive at once, so that their order cannot be seen."""
    return len({job.group for job in served}) == 1


def _random(explained: Sequence[Explained]) -> bool:
    """Whether the choices look random: neither old nor short requests are preferred or avoided. Too few
    choices do not.
    """
    by_age = [place - 0.5 for burst in explained for place in burst.by_age]
    by_size = [place - 0.5 for burst in explained for place in burst.by_size]
    if len(by_age) < MIN_CHOICES:
        return False
    return max(abs(_standard_errors(places)) for places in (by_age, by_size)) <= MAX_RANK_DEVIATION


def _at_ends(explained: Sequence[Explained]) -> float:
    """Standard errors by which requests at either end of the line are preferred."""
    choices = [excess for burst in explained for excess in burst.by_end]
    return _standard_errors(choices) if choices else 0.0


def _standard_errors(values: Sequence[float]) -> float:
    """How far the mean of `values` lies from 0, in standard errors."""
    deviation = float(np.std(values)) or 1e-9
    return float(np.mean(values)) * math.sqrt(len(values)) / deviation
