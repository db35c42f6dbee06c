"""The disciplines that a server may have, as far as jostle knows them, with the parameters that are tried."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

__all__ = ["SLICE_STEP", "Candidate", "Family", "candidates", "finer_slices"]


SLICE_STEP = 2 ** (1 / 8)
"""The finest step between slices that are tried."""

WATCHED_S = tuple(0.010 * share for share in (1.0, 1.005, 1.01, 1.02, 1.04))
"""Go's watchdog sleeps for 10 ms between two looks, and a timer makes that a little longer."""
TIMER_S = tuple(0.020 * share for share in (1.0, 1.005, 1.01))
"""GHC's timer asks the thread that computes to give way every 20 ms, and is a little late, too."""
PHASES = 16
"""As many moments of a timer's first tick are tried for each burst: nobody outside sees how it stands."""
MOST_SHARED = 9
"""Fewer workers than this that share a core, each with a queue of its own, are tried."""
TAKEN_OFF = 1.5
"""Slices after which it takes off the first that runs; who is alone for less is never taken off."""


class Family(StrEnum):
    """What a server does with more requests than it has workers or cores for."""

    FIRST_COME = "first-come-first-served"
    LAST_COME = "last-come-first-served"
    RANDOM_ORDER = "random-order"
    GATED_LAST_COME = "gated-last-come"
    """All that wait are taken as a batch, and the batch is served from its end."""
    GATED_RANDOM_ORDER = "gated-random-order"
    """The same, and the batch is served in random order."""
    GATED_SLOT = "gated-slot"
    """The same, and only the last of a batch goes before the others, as with a worker of Tokio's."""
    SHARING = "sharing"
    """All progress together, in slices or without any that could be seen."""
    LEAST_ATTAINED = "least-attained-first"
    """Who has had least service goes next, so newcomers overtake all others for a while."""
    WATCHDOG = "watchdog"
    """A watchdog looks at the cores once in a slice; who ran at its last look already gives way, as in Go."""
    LOCKED_THREADS = "locked-threads"
    """So many processes of so many threads, where one thread of a process computes at a time."""
    OWN_QUEUES = "own-queues"
    """Each worker has a queue of its own, and may idle while others' requests wait."""
    SHARED_QUEUES = "shared-queues"
    """Each worker has a queue of its own, and all share one core: processes that get connections in turn."""
    GATED_ANSWERS = "gated-answers"
    """Each is computed to its end, but a long one's answer waits behind the computation of all that wait."""


@dataclass(frozen=True)
class Candidate:
    """`workers`: or cores, or processes. `slice`, in seconds: of those who share, None where it is too short
    to be seen; of gated answers, from how long on an answer has to wait. `in_turn`: requests are dealt out to
    queues in turn; otherwise who goes where is unknown, and estimated. `timer`: of gated answers, only those
    wait during whose computation a timer ticked, once in a `slice`.
    """

    family: Family
    workers: int
    threads: int | None = None
    slice: float | None = None
    newest_first: bool = False
    in_turn: bool = False
    timer: bool = False

    def specs(self) -> list[Any]:
        """Each `DisciplineSpec` of the simulator that a burst may have met: several where a timer may stand
        anyhow.
        """
        if not self.timer:
            return [spec] if (spec := self._spec()) is not None else []
        period_ns = round((self.slice or 0.0) * 1e9)
        phases = [period_ns * step // PHASES for step in range(PHASES)]
        timer = {"cores": self.workers, "period_ns": period_ns}
        return [{"gated-by-timer": {**timer, "phase_ns": phase}} for phase in phases]

    @property
    def gathers(self) -> bool:
        """Who comes while the worker wakes belongs to the first batch."""
        return self.family in (Family.GATED_LAST_COME, Family.GATED_SLOT)

    def _spec(self) -> Any:
        """None where the order or the queues are to be estimated."""
        slice_ns = round((self.slice or 0.0) * 1e9)
        match self.family:
            case Family.FIRST_COME:
                return {"workers": {"workers": self.workers}}
            case Family.LAST_COME:
                return {"lifo": {"workers": self.workers}}
            case Family.GATED_LAST_COME:
                return "gated-lifo"
            case Family.GATED_SLOT:
                return "gated-slot"
            case Family.SHARED_QUEUES:
                return {"shared-queues": {"workers": self.workers, "slice_ns": slice_ns}}
            case Family.SHARING if self.slice is None:
                return {"processor-sharing": {"cores": self.workers}}
            case Family.SHARING:
                name = "newest-first" if self.newest_first else "round-robin"
                return {name: {"cores": self.workers, "slice_ns": slice_ns}}
            case Family.LEAST_ATTAINED:
                return {"least-attained": {"cores": self.workers, "slice_ns": slice_ns}}
            case Family.WATCHDOG:
                return {"watchdog": {"cores": self.workers, "slice_ns": slice_ns}}
            case Family.LOCKED_THREADS:
                threads = {"processes": self.workers, "threads": self.threads, "slice_ns": slice_ns}
                return {"locked-threads": threads}
            case Family.OWN_QUEUES if self.in_turn:
                return {"own-queues": {"workers": self.workers, "assignment": "in-turn"}}
            case Family.GATED_ANSWERS:
                return {"gated-answers": {"cores": self.workers, "slice_ns": slice_ns}}
            case _:
                return None

    def parameters(self) -> int:
        """How many numbers are fitted."""
        one = (Family.GATED_LAST_COME, Family.GATED_RANDOM_ORDER, Family.GATED_SLOT)
        workers = self.family not in one
        return workers + (self.threads is not None) + (self.slice is not None) + self.newest_first


def candidates(workers: Iterable[int], demands: Sequence[float], most: int) -> Iterator[Candidate]:
    """All families, for so many workers, requests of these demands, and bursts of at most so many requests.

    Parameters under which a family is another one are left out: one worker with a queue of its own; threads
    that are never all taken; slices longer than the longest request, or too short to be seen; a watchdog that
    takes nobody off.
    """
    longest = max(demands)
    slices = [longest / 2**step for step in range(1, 6)]
    yield Candidate(Family.GATED_LAST_COME, 1)
    yield Candidate(Family.GATED_RANDOM_ORDER, 1)
    yield Candidate(Family.GATED_SLOT, 1)
    counts = list(workers)
    for count in range(2, min(most, MOST_SHARED) if 1 in counts else 2):
        for slice_s in slices:
            yield Candidate(Family.SHARED_QUEUES, count, slice=slice_s)
    for count in counts:
        yield Candidate(Family.FIRST_COME, count)
        yield Candidate(Family.LAST_COME, count)
        yield Candidate(Family.RANDOM_ORDER, count)
        if count > 1:
            yield Candidate(Family.OWN_QUEUES, count, in_turn=True)
            yield Candidate(Family.OWN_QUEUES, count)
        for slice_s in _thresholds(demands):
            yield Candidate(Family.GATED_ANSWERS, count, slice=slice_s)
        for period_s in (each for each in TIMER_S if longest > each):
            yield Candidate(Family.GATED_ANSWERS, count, slice=period_s, timer=True)
        yield Candidate(Family.SHARING, count)
        for slice_s in slices:
            yield Candidate(Family.SHARING, count, slice=slice_s)
            yield Candidate(Family.SHARING, count, slice=slice_s, newest_first=True)
        for slice_s in slices:
            yield Candidate(Family.LEAST_ATTAINED, count, slice=slice_s)
        for slice_s in (each for each in WATCHED_S if longest > TAKEN_OFF * each):
            yield Candidate(Family.WATCHDOG, count, slice=slice_s)
        for threads in (2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32):
            if count * threads < most:
                for slice_s in slices:
                    yield Candidate(Family.LOCKED_THREADS, count, threads=threads, slice=slice_s)


def finer_slices(best: Candidate) -> Iterator[Candidate]:
    """The same with slices between those that were tried."""
    if best.slice is not None:
        for step in range(-7, 8):
            slice_s = best.slice * SLICE_STEP**step
            yield replace(best, slice=slice_s)


def _thresholds(demands: Sequence[float]) -> list[float]:
    """Between no request and all: from which demand on an answer waits. Where none does, it is another
    family.
    """
    sizes = sorted(set(demands))
    return [sizes[0] / 2, *((small + large) / 2 for small, large in pairwise(sizes))]
