"""Which bursts to send, so that their responses tell one discipline from another.

Three probes, after a first look at how many requests progress at once:
- equal requests at once, 1, 2, 4, …: how many progress, in a staircase or together;
- requests of several sizes, a moment apart, the shortest or the longest first;
- the same behind plugs: as many long requests as progress at once, so that all the others are waiting before
  the first of them is chosen. Without plugs, "last come, first served" looks like "first come", because an
  idle server begins the first request to arrive either way.

Nothing is sent here. `Job.demand` is one of the given demands, so the caller knows which request to send.
"""

import random
from collections.abc import Sequence
from itertools import cycle, islice

from jostle.explain.discipline.burst import Burst, Job

__all__ = ["GAP_S", "bursts_to_send", "duration", "equal_bursts", "parallelism", "sized_bursts"]

GAP_S = 0.002
"""Between requests whose order matters: more than a network or an event loop reorders."""

Jobs = tuple[Job, ...]


def equal_bursts(demand: float, max_burst: int) -> list[Jobs]:
    """1, 2, 4, … up to `max_burst` requests at once, each of `demand` seconds."""
    counts, count = [], 1
    while count < max_burst:
        counts.append(count)
        count *= 2
    return [tuple(Job(0.0, demand, number) for number in range(count)) for count in [*counts, max_burst]]


def sized_bursts(demands: Sequence[float], at_once: int, max_burst: int, rng: random.Random) -> list[Jobs]:
    """Requests of all `demands`, `GAP_S` apart: behind `at_once` plugs, the longest first, the shortest
    first, and twice in random order; without plugs, the longest first and the shortest first.

    There are more than twice as many as progress at once, so that most of them are chosen while others wait.
    If only one progresses at a time, a further burst has three times as many in random order, as far as
    `max_burst` allows: threads that share a core serve a few requests all at once, whether or not each has a
    queue of its own.
    """
    count = max(4, len(demands), 2 * at_once + 2)
    sizes = sorted(islice(cycle(sorted(demands, reverse=True)), count))
    shuffled = [rng.sample(sizes, count) for _ in range(2)]
    many = (
        rng.sample(list(islice(cycle(sizes), 3 * count)), min(max_burst, 3 * count)) if at_once == 1 else []
    )
    plugs = [max(demands)] * at_once
    half = count // 2
    return [
        *(_apart(plugs, order) for order in (sizes, sizes[::-1])),
        *(_apart(plugs, order[:half], order[half:], rng.uniform(1.1, 1.9)) for order in shuffled),
        *(_apart([], order) for order in (sizes, sizes[::-1], many) if order),
    ]


def bursts_to_send(
    demands: Sequence[float], at_once: int, *, max_burst: int, budget: float, seed: int
) -> list[Jobs]:
    """All probes in random order, repeated as often as they fit into `budget` seconds together, but at least
    twice.

    `demands`: service times in seconds, measured alone; telling the order takes two that differ by half.
    `at_once`: the result of `parallelism` for the equal bursts. `max_burst`: the maximum number of requests
    at once.
    """
    rng = random.Random(seed)
    chosen: list[Jobs] = []
    spent, repeats = 0.0, 0
    while True:
        fresh = equal_bursts(max(demands), max_burst)[1:]
        if 3 * at_once + 2 <= max_burst:
            fresh += sized_bursts(demands, at_once, max_burst, rng)
        cost = sum(duration(jobs, at_once) for jobs in fresh)
        if repeats >= 2 and spent + cost > budget:
            break
        chosen += fresh
        spent, repeats = spent + cost, repeats + 1
        if repeats == MAX_REPEATS:
            break
    rng.shuffle(chosen)
    return chosen


MAX_REPEATS = 8


def duration(jobs: Jobs, at_once: int) -> float:
    """Roughly how long a burst takes, in seconds, on a server that serves `at_once` requests at a time."""
    work = sum(job.demand for job in jobs) / at_once
    return max(job.at for job in jobs) + max(work, max(job.demand for job in jobs))


def parallelism(bursts: Sequence[Burst]) -> int:
    """How many requests progress at once, from bursts of equal ones: the largest ratio of their work to the
    time it took.
    """
    ratios = [1.0]
    for burst in bursts:
        ends = [end for end in burst.ends if end is not None]
        if ends:
            work = sum(job.demand for job, end in zip(burst.jobs, burst.ends, strict=True) if end is not None)
            ratios.append(work / max(ends))
    return max(1, round(max(ratios)))


def _apart(
    plugs: Sequence[float], sizes: Sequence[float], later: Sequence[float] = (), wait: float = 0.0
) -> Jobs:
    """The plugs together, then `sizes` before the first plug is done; `later` follows after `wait` times the
    longest demand.
    """
    longest = max([*plugs, *sizes])
    gap = min(GAP_S, 0.6 * longest / len(sizes))
    first = gap if plugs else 0.0
    times = [0.0] * len(plugs)
    times += [first + index * gap for index in range(len(sizes))]
    times += [wait * longest + index * gap for index in range(len(later))]
    jobs = enumerate(zip(times, [*plugs, *sizes, *later], strict=True))
    return tuple(Job(at, demand, number) for number, (at, demand) in jobs)
