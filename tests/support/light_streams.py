"""Light streams as a server with an event loop would answer them, calculated: what each request computes
holds up all others, what it waits for does not; but who has waited needs the loop once more.
"""

import heapq
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from jostle.explain.slow_responses.requests import Requests

WAKING_S = 0.0001
"""What a request computes that has waited."""

Slow = Callable[[int, float, random.Random], bool]
"""Whether a request is slow: its number among those of its route, when it is sent, and chance."""


@dataclass
class Asked:
    """A route: requests per second, what each computes, what it waits for after that, and what it computes
    then, in seconds. `slow`: which of them take `slow_s` more, `blocking` all others or not, `after` they
    have waited or before.
    """

    rate: float
    computes_s: float
    waits_s: float = 0.0
    then_s: float = WAKING_S
    slow: Slow | None = None
    slow_s: float = 0.080
    blocking: bool = True
    after: bool = False


@dataclass
class Loop:
    """`pauses`: (begin, length), in which nothing is computed. `noise_per_s`: stalls of the machine, each of
    some milliseconds.
    """

    routes: dict[str, Asked]
    pauses: Sequence[tuple[float, float]] = ()
    noise_per_s: float = 0.0
    seed: int = 1
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def answers(self, seconds: float) -> Requests:
        rng = self.chance
        arrivals = sorted(
            (at, name) for name, asked in self.routes.items() for at in self._poisson(asked.rate, seconds)
        )
        noise = [(at, rng.expovariate(1 / 0.006)) for at in self._poisson(self.noise_per_s, seconds)]
        still = sorted([*self.pauses, *noise])
        free, place, rows = 0.0, 0, []
        numbers = dict.fromkeys(self.routes, 0)
        due: list[tuple[float, str, float | None, float]] = [(at, name, None, 0.0) for at, name in arrivals]
        heapq.heapify(due)
        while due:
            at, name, sent, computes = heapq.heappop(due)
            asked, number = self.routes[name], numbers[name]
            waits, then = 0.0, asked.then_s
            if sent is None:
                numbers[name] += 1
                slow = asked.slow is not None and asked.slow(number, at, rng)
                computes = asked.computes_s * math.exp(rng.gauss(0, 0.05))
                waits = asked.waits_s * math.exp(rng.gauss(0, 0.02))
                if slow and asked.blocking and asked.after:
                    then += asked.slow_s
                elif slow and asked.blocking:
                    computes += asked.slow_s
                elif slow:
                    waits += asked.slow_s
            begin = max(at, free)
            while place < len(still) and still[place][0] <= begin + computes:
                since, length = still[place]
                begin = max(begin, since + length) if since <= begin else begin + length
                place += 1
            free = begin + computes
            if waits:
                heapq.heappush(due, (free + waits, name, at, then))
            else:
                rows.append((name, len(rows) % 4, at if sent is None else sent, free + 0.0002))
        return Requests.of(rows)

    def _poisson(self, rate: float, seconds: float) -> list[float]:
        times, at = [], 0.0
        while rate > 0 and (at := at + self.chance.expovariate(rate)) < seconds:
            times.append(at)
        return times


def by_chance(share: float) -> Slow:
    return lambda _number, _at, rng: rng.random() < share


def every(nth: int) -> Slow:
    return lambda number, _at, _rng: number % nth == nth - 1


def cron(
    every_s: float, length_s: float, seconds: float, *, jitter: float = 0.0, seed: int = 3
) -> list[tuple[float, float]]:
    """A job that sleeps for about `every_s`, again and again."""
    rng, times, at = random.Random(seed), [], every_s / 3
    while at < seconds:
        times.append((at, length_s))
        at += every_s * (1 + rng.uniform(-jitter, jitter))
    return times
