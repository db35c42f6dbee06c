"""Servers of known discipline, calculated with noise, and what the inference should say of each."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jostle.explain.discipline.burst import Burst, Job
from jostle.explain.discipline.candidates import Family
from jostle.explain.discipline.design import bursts_to_send, equal_bursts, parallelism
from jostle.explain.discipline.fit import unsteadiness
from jostle.explain.discipline.inference import Inference, Range, infer
from jostle.generator.bursts import BurstRequest, simulated_answers

DEMANDS_S = (0.0057, 0.0113, 0.0217, 0.043)
"""No multiples of one another, nor of a slice: what is measured of a server never is."""
ALONE = 30
MAX_AT_ONCE = 16

Simulate = Callable[[Sequence[BurstRequest], random.Random], Sequence[int | None]]
Outcome = Literal["correct", "undecided", "wrong"]


@dataclass(frozen=True)
class Noise:
    """`service`: standard deviation of ln service time; `delay_s`: mean of what an observer adds to every
    response. `speed`: standard deviation of the logarithm of the machine's speed, which changes between
    bursts and within them.
    """

    service: float
    delay_s: float
    speed: float = 0.0


NOISE = {
    "low": Noise(0.01, 0.0001),
    "medium": Noise(0.05, 0.0005),
    "high": Noise(0.15, 0.003),
    "shared machine": Noise(0.02, 0.0002, speed=0.15),
}
CHANGES = 0.4
"""How often the machine's speed changes between two bursts, and within one."""
PACE = 3
"""Requests by which the machine's speed is known before a burst."""


@dataclass(frozen=True)
class Behaviour:
    """`simulate`: a `DisciplineSpec`, or a function. `family`: None where no candidate is right, and none may
    be told. `overtaking` and `leave_as_computed`: None where either may be said. `dealt`: connections go to
    the workers in the order in which they were opened, otherwise in one that cannot be seen.
    """

    name: str
    simulate: Any
    family: Family | None
    workers: int = 1
    threads: int | None = None
    slice: float = 0.0
    overtaking: bool | None = False
    leave_as_computed: bool | None = True
    room: int | None = None
    dealt: bool = False


def gated_by_a_timer(requests: Sequence[BurstRequest], rng: random.Random) -> list[int | None]:
    """As GHC does, with a timer that ticks every 20.1 ms and stands anyhow when a burst begins."""
    period_ns = 20_100_000
    timer = {"cores": 1, "period_ns": period_ns, "phase_ns": rng.randrange(period_ns)}
    return simulated_answers({"gated-by-timer": timer}, [requests])[0]


def in_batches(requests: Sequence[BurstRequest], rng: random.Random) -> list[int]:
    """One worker takes all that wait, and serves them in random order."""
    ends = [0] * len(requests)
    left, now = sorted(range(len(requests)), key=lambda index: requests[index][0]), 0
    while left:
        now = max(now, requests[left[0]][0])
        batch = [index for index in left if requests[index][0] <= now]
        left = left[len(batch) :]
        for index in rng.sample(batch, len(batch)):
            now += requests[index][1]
            ends[index] = now
    return ends


def shortest_first(requests: Sequence[BurstRequest], _rng: random.Random) -> list[int]:
    """One worker takes the shortest of those that wait."""
    ends = [0] * len(requests)
    left, now = set(range(len(requests))), 0
    while left:
        now = max(now, min(requests[index][0] for index in left))
        present = [index for index in left if requests[index][0] <= now]
        chosen = min(present, key=lambda index: requests[index][1])
        left.remove(chosen)
        now += requests[chosen][1]
        ends[chosen] = now
    return ends


def first_come_with_pauses(requests: Sequence[BurstRequest], rng: random.Random) -> list[int | None]:
    """Two workers that stand still for 10 ms in every 150, since some moment."""
    period, working = 150_000_000, 140_000_000
    since = rng.randrange(working)

    def service_time(at: int) -> int:
        return (at + since) // period * working + min((at + since) % period, working)

    def moment(service: int) -> int:
        return service // working * period + service % working - since

    shifted = [(service_time(at), demand, connection) for at, demand, connection in requests]
    responses = simulated_answers(_workers(2), [shifted])[0]
    return [None if end is None else moment(end) for end in responses]


def thrashing(requests: Sequence[BurstRequest], _rng: random.Random) -> list[int | None]:
    """Sharing whose requests demand more the more of them there are."""
    factor = 1 + 0.06 * (len(requests) - 1)
    slowed = [(at, round(demand * factor), connection) for at, demand, connection in requests]
    return simulated_answers({"processor-sharing": {"cores": 1}}, [slowed])[0]


def _workers(count: int) -> Any:
    return {"workers": {"workers": count}}


def _sliced(kind: str, cores: int, slice_s: float) -> Any:
    return {kind: {"cores": cores, "slice_ns": round(slice_s * 1e9)}}


def _locked(processes: int, threads: int, slice_s: float) -> Any:
    return {"locked-threads": {"processes": processes, "threads": threads, "slice_ns": round(slice_s * 1e9)}}


def _queues(workers: int, assignment: str) -> Any:
    return {"own-queues": {"workers": workers, "assignment": assignment}}


BEHAVIOURS = [
    *(Behaviour(f"first come, {c}", _workers(c), Family.FIRST_COME, c) for c in (1, 2, 4, 8)),
    *(
        Behaviour(f"last come, {c}", {"lifo": {"workers": c}}, Family.LAST_COME, c, leave_as_computed=True)
        for c in (1, 4)
    ),
    *(
        Behaviour(f"random order, {c}", {"random-order": {"workers": c}}, Family.RANDOM_ORDER, c)
        for c in (1, 3)
    ),
    Behaviour("gated last come", "gated-lifo", Family.GATED_LAST_COME),
    Behaviour("batches, the last first", "gated-slot", Family.GATED_SLOT),
    *(
        Behaviour(f"sharing, {c}", {"processor-sharing": {"cores": c}}, Family.SHARING, c, overtaking=True)
        for c in (1, 2, 4)
    ),
    Behaviour("slices of 1 ms, 1", _sliced("round-robin", 1, 0.001), Family.SHARING, 1, None, 0.001, True),
    Behaviour("slices of 10 ms, 1", _sliced("round-robin", 1, 0.01), Family.SHARING, 1, None, 0.01, None),
    Behaviour("slices of 5 ms, 2", _sliced("round-robin", 2, 0.005), Family.SHARING, 2, None, 0.005, None),
    Behaviour("newest first, 10 ms", _sliced("newest-first", 1, 0.01), Family.SHARING, 1, None, 0.01, None),
    *(
        Behaviour(
            f"least attained first, {c}",
            _sliced("least-attained", c, 0.0005),
            Family.LEAST_ATTAINED,
            c,
            overtaking=True,
        )
        for c in (1, 2)
    ),
    *(
        Behaviour(
            f"watchdog of 10 ms, {c}",
            _sliced("watchdog", c, 0.01006),
            Family.WATCHDOG,
            c,
            None,
            0.01006,
            None,
        )
        for c in (1, 2)
    ),
    Behaviour("watchdog of 25 ms, 1", _sliced("watchdog", 1, 0.025), None, 1, overtaking=None),
    Behaviour("threads, 1 × 5", _locked(1, 5, 0.005), Family.LOCKED_THREADS, 1, 5, overtaking=None),
    Behaviour("threads, 2 × 3", _locked(2, 3, 0.005), Family.LOCKED_THREADS, 2, 3, overtaking=None),
    *(Behaviour(f"own queues in turn, {w}", _queues(w, "in-turn"), Family.OWN_QUEUES, w) for w in (2, 4)),
    Behaviour(
        "own queues by connection, 4", _queues(4, "by-connection"), Family.OWN_QUEUES, 4, overtaking=None
    ),
    Behaviour(
        "gated answers, 1", _sliced("gated-answers", 1, 0.0), Family.GATED_ANSWERS, leave_as_computed=False
    ),
    Behaviour(
        "gated answers of 15 ms, 1",
        _sliced("gated-answers", 1, 0.015),
        Family.GATED_ANSWERS,
        slice=0.015,
        leave_as_computed=None,
    ),
    Behaviour(
        "gated by a timer of 20 ms, 1",
        gated_by_a_timer,
        Family.GATED_ANSWERS,
        overtaking=None,
        leave_as_computed=None,
    ),
    *(
        Behaviour(
            f"queues on one core, {workers}",
            {"shared-queues": {"workers": workers, "slice_ns": 3_000_000}},
            Family.SHARED_QUEUES,
            workers,
            overtaking=None,
            dealt=True,
        )
        for workers in (2, 3)
    ),
    Behaviour("first come, 2, queue of 8", _workers(2), Family.FIRST_COME, 2, room=10),
    Behaviour("first come, 2, pauses", first_come_with_pauses, Family.FIRST_COME, 2),
    Behaviour("unlimited", "unlimited", None, MAX_AT_ONCE, overtaking=True),
    Behaviour("batches in random order", in_batches, Family.GATED_RANDOM_ORDER),
    Behaviour("shortest first", shortest_first, None),
    Behaviour("thrashing", thrashing, None, overtaking=None),
]


class KnownServer:
    """Answers bursts as its behaviour and its noise say."""

    def __init__(self, behaviour: Behaviour, noise: Noise, seed: int) -> None:
        self._behaviour, self._noise = behaviour, noise
        self._rng = random.Random(f"{behaviour.name} {noise} {seed}")
        self._slowness = 1.0
        self.paces: list[float] = []

    def _drift(self) -> None:
        """The machine has another speed by now, or not."""
        if self._noise.speed and self._rng.random() < CHANGES:
            self._slowness = math.exp(self._rng.gauss(0.0, self._noise.speed))

    def _pace(self, demand: float, usual: float) -> float:
        """How many times as long as usual a request that truly demands `demand` takes now."""
        times = sorted(self._seen(self._slowness * self._service(demand)) for _ in range(PACE))
        return times[PACE // 2] / usual

    def _service(self, demand: float) -> float:
        sd = self._noise.service
        return demand * math.exp(self._rng.gauss(-sd * sd / 2, sd))

    def _seen(self, end: float) -> float:
        return end + self._rng.expovariate(1 / self._noise.delay_s)

    def alone(self, demand: float) -> list[float]:
        """Times of single requests."""
        return [self._seen(self._service(demand)) for _ in range(ALONE)]

    def response(self, jobs: Sequence[Job], demands: Sequence[float]) -> Burst:
        """The burst `jobs`, of requests that truly demand `demands`; which connection is whose is the
        server's.
        """
        connections = self._rng.sample(range(4 * len(jobs)), len(jobs))
        if self._behaviour.dealt:
            first = self._rng.randrange(self._behaviour.workers)
            connections = [first + job.connection for job in jobs]
        self.paces.append(self._pace(max(demands), max(job.demand for job in jobs)))
        self._drift()
        slowness = self._slowness
        self._drift()
        after = self._slowness / slowness
        changed = self._rng.uniform(0.0, slowness * sum(demands)) if after != 1 else math.inf

        def unstretched(at: float) -> float:
            """As if the machine went on as it began."""
            return at if at <= changed else changed + (at - changed) / after

        def stretched(at: float) -> float:
            return at if at <= changed else changed + (at - changed) * after

        requests = [
            (round(unstretched(job.at) * 1e9), round(slowness * self._service(demand) * 1e9), connection)
            for job, demand, connection in zip(jobs, demands, connections, strict=True)
        ]
        simulate = self._behaviour.simulate
        if callable(simulate):
            responses = simulate(requests, self._rng)
        else:
            seed = self._rng.getrandbits(32)
            responses = simulated_answers(simulate, [requests], seed=seed, room=self._behaviour.room)[0]
        ends = [None if end is None else self._seen(stretched(end / 1e9)) for end in responses]
        return Burst(tuple(jobs), tuple(ends))


def explained(behaviour: Behaviour, noise: Noise, seed: int, *, budget_s: float) -> Inference:
    """What is inferred of such a server, asked as a real one is."""
    server = KnownServer(behaviour, noise, seed)
    alone = {demand: server.alone(demand) for demand in DEMANDS_S}
    truly = {sum(times) / len(times): demand for demand, times in alone.items()}
    longest = max(truly)
    deviation = math.sqrt(sum((time - longest) ** 2 for time in alone[truly[longest]]) / (ALONE - 1))

    def ask(bursts: Sequence[tuple[Job, ...]]) -> list[Burst]:
        return [server.response(jobs, [truly[job.demand] for job in jobs]) for jobs in bursts]

    first = ask(equal_bursts(longest, MAX_AT_ONCE))
    at_once = parallelism(first)
    most = max(MAX_AT_ONCE, 4 * at_once)
    second = ask(bursts_to_send(sorted(truly), at_once, max_burst=most, budget=budget_s, seed=seed))
    unsteady, bursts = unsteadiness(server.paces), first + second
    if unsteady:
        bursts = [burst.at_pace(pace) for burst, pace in zip(bursts, server.paces, strict=True)]
    return infer(bursts, spread=deviation / longest, unsteady=unsteady)


def judged(behaviour: Behaviour, found: Inference) -> Outcome:
    """Wrong, if anything that is told is not true."""
    if not _coarse_is_true(behaviour, found):
        return "wrong"
    if found.discipline.value is None:
        return "undecided"
    right = (
        found.discipline.value is behaviour.family
        and _within(behaviour.workers, found.workers)
        and (behaviour.threads is None or _within(behaviour.threads, found.threads))
        and (behaviour.family is not Family.SHARING or _within(behaviour.slice, found.slice))
        and (not found.newest_first or "newest" in behaviour.name)
    )
    return "correct" if right else "wrong"


def _coarse_is_true(behaviour: Behaviour, found: Inference) -> bool:
    told = [
        (found.overtaking.value, behaviour.overtaking),
        (found.leave_as_computed.value, behaviour.leave_as_computed),
    ]
    if any(value is not None and truth is not None and value != truth for value, truth in told):
        return False
    unknown = found.at_once.value is None or behaviour.family in (
        None,
        Family.OWN_QUEUES,
        Family.SHARED_QUEUES,
    )
    return unknown or _within(behaviour.workers, found.at_once.value)


def _within(value: float, told: Range | None) -> bool:
    return told is None or (told.low <= value and (told.high is None or value <= told.high))
