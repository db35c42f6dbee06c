"""The disciplines that jostle knows a server may have, with the parameters that are tried."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

__all__ = ["SHARING_CORES", "SLICE_STEP", "TO_THE_END", "Candidate", "Family", "candidates", "finer_slices"]


SLICE_STEP = 2 ** (1 / 8)
"""The finest step between slices that are tried."""

WATCHED_S = tuple(0.010 * share for share in (1.0, 1.005, 1.01, 1.02, 1.04))
"""Go's watchdog sleeps for 10 ms between two looks, and timers make that a little longer."""
TIMER_S = tuple(0.020 * share for share in (1.0, 1.005, 1.01))
"""GHC's timer asks the running thread to yield every 20 ms, and is a little late, too."""
PHASES = 16
"""How many phases of a timer are tried for each burst, since the phase cannot be seen from outside."""
MAX_SHARED = 9
"""Workers that share a core, each with a queue of its own: fewer than this many are tried."""
TAKEN_OFF = 1.5
"""The watchdog takes off the first running request after this many slices, so the longest request must take
longer than that for the watchdog to matter.
"""


class Family(StrEnum):
    """What a server does with more requests than it has workers or cores for."""

    FIRST_COME = "first-come-first-served"
    LAST_COME = "last-come-first-served"
    RANDOM_ORDER = "random-order"
    GATED_LAST_COME = "gated-last-come"
    """All waiting requests are taken as a batch, and the batch is served from its end."""
    GATED_RANDOM_ORDER = "gated-random-order"
    """All waiting requests are taken as a batch, and the batch is served in random order."""
    GATED_SLOT = "gated-slot"
    """All waiting requests are taken as a batch; its last one is served first, then the others in order of
    arrival, as by a Tokio worker.
    """
    SHARING = "sharing"
    """All progress together, in slices or without visible slices."""
    LEAST_ATTAINED = "least-attained-first"
    """The request that has had the least service goes next, so newcomers overtake all others for a while."""
    WATCHDOG = "watchdog"
    """A watchdog looks at the cores once per slice; a request that it finds running twice in a row has to
    yield, as in Go.
    """
    LOCKED_THREADS = "locked-threads"
    """Several processes with several threads each; only one thread of a process computes at a time."""
    OWN_QUEUES = "own-queues"
    """Each worker has a queue of its own, and may idle while requests wait in the queues of others."""
    SHARED_QUEUES = "shared-queues"
    """Each worker has a queue of its own, and all workers share one core, like processes that are given
    connections in turn.
    """
    GATED_ANSWERS = "gated-answers"
    """Each request is computed to its end, but the response to a long one leaves only when all waiting
    requests have been computed.
    """


SHARING_CORES = frozenset(
    {
        Family.SHARING,
        Family.LEAST_ATTAINED,
        Family.WATCHDOG,
        Family.LOCKED_THREADS,
        Family.SHARED_QUEUES,
    }
)
"""In these a request gives way before it is done, so that short ones overtake it."""

TO_THE_END = frozenset({*Family} - SHARING_CORES - {Family.GATED_ANSWERS}) | {Family.LOCKED_THREADS}
"""In these each request is computed to its end, and answered then; threads under a lock do so if their slices
are longer than requests.
"""


@dataclass(frozen=True)
class Candidate:
    """A discipline with its parameters.

    `workers`: number of workers, cores or processes. `slice`, in seconds: for disciplines that share, the
    slice, None if it is too short to be seen; for gated answers, the demand from which on a response has to
    wait. `newest_first`: new requests go before all that have had a slice, the newest first. `in_turn`:
    requests are dealt out to queues in turn; otherwise the assignment is unknown and is estimated. `timer`:
    with gated answers, only those wait during whose computation a timer ticked, with `slice` as its period.
    """

    family: Family
    workers: int
    threads: int | None = None
    slice: float | None = None
    newest_first: bool = False
    in_turn: bool = False
    timer: bool = False

    def specs(self) -> list[Any]:
        """Every `DisciplineSpec` of the simulator that may have applied to a burst: one for each phase of a
        timer, otherwise one at most.
        """
        if not self.timer:
            return [spec] if (spec := self._spec()) is not None else []
        period_ns = round((self.slice or 0.0) * 1e9)
        phases = [period_ns * step // PHASES for step in range(PHASES)]
        timer = {"cores": self.workers, "period_ns": period_ns}
        return [{"gated-by-timer": {**timer, "phase_ns": phase}} for phase in phases]

    @property
    def gathers(self) -> bool:
        """Whether requests that arrive while the worker wakes up belong to the first batch."""
        return self.family in (Family.GATED_LAST_COME, Family.GATED_SLOT)

    def _spec(self) -> Any:
        """The simulator's specification; None if the order or the queues have to be estimated."""
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
        """The number of fitted parameters."""
        one = (Family.GATED_LAST_COME, Family.GATED_RANDOM_ORDER, Family.GATED_SLOT)
        workers = self.family not in one
        return workers + (self.threads is not None) + (self.slice is not None) + self.newest_first


def candidates(workers: Iterable[int], demands: Sequence[float], max_burst: int) -> Iterator[Candidate]:
    """All families, for each number of `workers`, requests of these `demands`, and bursts of at most
    `max_burst` requests.

    Parameters that make a family equivalent to another one are left out: a single worker with a queue of its
    own, threads that are never all taken, slices longer than the longest request or too short to be seen, and
    a watchdog that never takes a request off.
    """
    longest = max(demands)
    slices = [longest / 2**step for step in range(1, 6)]
    yield Candidate(Family.GATED_LAST_COME, 1)
    yield Candidate(Family.GATED_RANDOM_ORDER, 1)
    yield Candidate(Family.GATED_SLOT, 1)
    counts = list(workers)
    for count in range(2, min(max_burst, MAX_SHARED) if 1 in counts else 2):
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
            if count * threads < max_burst:
                for slice_s in slices:
                    yield Candidate(Family.LOCKED_THREADS, count, threads=threads, slice=slice_s)


def finer_slices(best: Candidate) -> Iterator[Candidate]:
    """The same candidate with slices between those that were tried."""
    if best.slice is not None:
        for step in range(-7, 8):
            slice_s = best.slice * SLICE_STEP**step
            yield replace(best, slice=slice_s)


def _thresholds(demands: Sequence[float]) -> list[float]:
    """The demands from which on a response may wait, from "all responses" up to "only the largest requests'".
    If no response waits, it is another family.
    """
    sizes = sorted(set(demands))
    return [sizes[0] / 2, *((small + large) / 2 for small, large in pairwise(sizes))]
