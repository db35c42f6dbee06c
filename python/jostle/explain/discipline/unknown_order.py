"""Servers whose choices cannot be seen from outside: the order of service, or the queue of each request.

Choices that cannot be predicted are taken from the observation, at a price: each choice among n costs ln n of
log-likelihood, so a server that follows a rule is explained better by that rule.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Explained", "Served", "any_order", "any_queue"]


@dataclass(frozen=True)
class Served:
    """One answered request: when it arrived, its demand, and when it was answered. `group`: requests of the
    same group arrived together with the same demand and cannot be told apart. `connection`: the connection
    it arrived on.
    """

    at: float
    demand: float
    end: float
    group: int
    connection: int = 0


@dataclass
class Explained:
    """`ends`: predicted completion times. `cost`: of all choices, in nats of likelihood.

    One entry for each real choice: `by_age` and `by_size` hold its rank among the waiting requests, from 0
    (the oldest, the shortest) to 1. `by_end`: how much closer it was to either end of the line than an
    average waiting request, as the difference of the squared distances from the middle.
    """

    ends: list[float]
    cost: float = 0.0
    by_age: list[float] = field(default_factory=list)
    by_size: list[float] = field(default_factory=list)
    by_end: list[float] = field(default_factory=list)


def any_order(served: Sequence[Served], workers: int, *, batches: bool = False) -> Explained:
    """Runs each request to completion on one of `workers`; the next one is whichever waiting request seems to
    have been begun first. `batches`: a request that arrives while a batch is served waits for the next batch.
    """
    arrivals = sorted(range(len(served)), key=lambda index: served[index].at)
    explained = Explained([0.0] * len(served))
    free = [0.0] * workers
    waiting: list[int] = []
    batch: list[int] = []
    position = 0
    while position < len(arrivals) or waiting:
        now = free[0] if waiting else max(free[0], served[arrivals[position]].at)
        while position < len(arrivals) and served[arrivals[position]].at <= now:
            waiting.append(arrivals[position])
            position += 1
        if not batches or not batch:
            batch = list(waiting)
        chosen = min(batch, key=lambda index: served[index].end - served[index].demand)
        _note_choice(served, batch, chosen, explained)
        batch.remove(chosen)
        waiting.remove(chosen)
        explained.ends[chosen] = now + served[chosen].demand
        heapq.heapreplace(free, explained.ends[chosen])
    return explained


def _note_choice(served: Sequence[Served], waiting: Sequence[int], chosen: int, explained: Explained) -> None:
    alike = sum(served[index].group == served[chosen].group for index in waiting)
    if alike == len(waiting):
        return
    explained.cost += math.log(len(waiting) / alike)
    came = [served[index].at for index in waiting]
    explained.by_age.append(_place(came, served[chosen].at))
    from_middle = [(_place(came, at) - 0.5) ** 2 for at in came]
    explained.by_end.append((explained.by_age[-1] - 0.5) ** 2 - sum(from_middle) / len(from_middle))
    explained.by_size.append(_place([served[index].demand for index in waiting], served[chosen].demand))


def _place(values: Sequence[float], chosen: float) -> float:
    """The rank of `chosen`, from 0 (the smallest) to 1 (the largest); equal values share a rank."""
    less = sum(value < chosen for value in values)
    equal = sum(value == chosen for value in values)
    return (less + equal / 2) / len(values)


def any_queue(served: Sequence[Served], workers: int) -> Explained:
    """Each worker serves a queue of its own in the order of arrival; each request is assigned to the queue
    that explains its response best.
    """
    came: dict[int, float] = {}
    for job in served:
        came[job.group] = min(job.at, came.get(job.group, job.at))
    order = sorted(range(len(served)), key=lambda index: (came[served[index].group], served[index].end))
    explained = Explained([0.0] * len(served))
    free = [0.0] * workers
    for index in order:
        job = served[index]
        seen = max(job.end - job.at, 1e-9)

        def distance(begin: float, job: Served = job, seen: float = seen) -> float:
            return abs(math.log((max(begin, job.at) - job.at + job.demand) / seen))

        chosen = min(range(workers), key=lambda worker: distance(free[worker]))
        begin = max(free[chosen], job.at)
        alike = sum(max(other, job.at) == begin for other in free)
        explained.cost += math.log(workers / alike)
        explained.ends[index] = begin + job.demand
        free[chosen] = explained.ends[index]
    return explained
