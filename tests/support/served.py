"""A server of known behaviour and the sender that asks it, calculated in no time: what probes would have
seen.
"""

import contextlib
import heapq
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from unittest import mock

from jostle.explain.results import Explanation
from jostle.explain.run import examine
from jostle.explain.send import BackgroundLoad, Due, LightStream, Response, Stream
from jostle.explain.server.limits import GENTLE, THOROUGH, Budget, Limits
from jostle.explain.server.target import ResponseHead, Route, Target
from jostle.explain.session import Baseline, Session
from jostle.record.outcomes import Outcome
from jostle.runner.observer import Tell, silent

WORKLOAD = {
    "name": "explain", "role": "measured", "order": "sequence", "body_limit": None, "load": {},
    "target": {"host": "127.0.0.1", "port": 1, "tls": None, "connect_to": [], "source_addresses": []},
    "requests": [{"name": "url", "path": "/", "headers": []}],
    "timeouts": {"connect_ns": 10**9, "first_byte_ns": None, "total_ns": 10**10},
}  # fmt: skip

FAST, SLOW, HALF, QUARTER, WAIT = (
    Route("/fast", "fast"),
    Route("/slow", "slow"),
    Route("/slow?half", "slow"),
    Route("/slow?quarter", "slow"),
    Route("/wait", "wait"),
)
DEMANDS = {"/fast": 0.0005, "/slow": 0.040, "/slow?half": 0.020, "/slow?quarter": 0.010, "/wait": 0.050}


@dataclass
class Server:
    """`workers` serve one request each, to its end, in the order of arrival; with `shared`, they are cores
    that all requests share. Routes that wait hold nobody. `noise`: share by which each demand is off.
    `pools`: by route that waits, the name of the pool that it takes a slot of; `slots`: how many each pool
    has, `holds`: for which share of its time a request holds it, from the start, and `rooms`: how many
    requests may wait for one, any more are refused; `patience`: after how many seconds they are refused while
    their work goes on. `rare`: by route, the share of
    its requests that take longer, and by how much.
    `sleeps_after_s`: the first request after so much idle time takes 250 ms more.
    `in_line`: requests for these routes wait for one another if they come on the same connection.
    `refuses`, `away` (no connection is accepted), `broken` (it answers 500): decide by the time of a request,
    which counts from the start of its probe. `closes_after`: requests on a connection; 0: any number.
    `pauses`: (begin, length) in which nobody is answered. `delay_s`: between head and body.
    """

    workers: int = 1
    shared: bool = False
    noise: float = 0.005
    demands: Mapping[str, float] = field(default_factory=lambda: dict(DEMANDS))
    refuses: Callable[[float], bool] = lambda _: False
    away: Callable[[float], bool] = lambda _: False
    broken: Callable[[float], bool] = lambda _: False
    pauses: Sequence[tuple[float, float]] = ()
    pools: Mapping[str, str] = field(default_factory=dict)
    slots: Mapping[str, int] = field(default_factory=dict)
    holds: Mapping[str, float] = field(default_factory=dict)
    rooms: Mapping[str, int] = field(default_factory=dict)
    patience: Mapping[str, float] = field(default_factory=dict)
    rare: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    in_line: frozenset[str] = frozenset()
    sleeps_after_s: float = 1000.0
    delay_s: float = 0.0002
    idle_limit_s: float = 1000.0
    closes_after: int = 0
    left_s: dict[str, float] = field(default_factory=dict)
    """For how long each pool still works at what was given up."""

    drawn: random.Random = field(default_factory=lambda: random.Random(7))

    def demand(self, route: str) -> float:
        name = route.partition("?jostle")[0].partition("&jostle")[0]
        share, longer_s = self.rare.get(name, (0.0, 0.0))
        more_s = longer_s if self.drawn.random() < share else 0.0
        return self.demands[name] * (1 + self.noise * self.drawn.gauss(0, 1)) + more_s

    def given_up(self, route: str, count: int) -> None:
        """So many clients went."""

    def ends(self, jobs: Sequence[tuple[float, float]]) -> list[float]:
        """When each of (arrival, demand) is done."""
        return self._shared(jobs) if self.shared else self._first_come(jobs)

    def pooled(self, pool: str, jobs: Sequence[tuple[float, float]]) -> list[float | None]:
        """When each of (arrival, demand) has had its slot; None if it was refused."""
        free = [self.left_s.get(pool, 0.0)] * self.slots.get(pool, 1)
        ends = list[float | None]([None] * len(jobs))
        there: list[float] = []
        for i in sorted(range(len(jobs)), key=lambda i: jobs[i][0]):
            at, demand = jobs[i]
            there = [end for end in there if end > at]
            if len(there) < self.slots.get(pool, 1) + self.rooms.get(pool, len(jobs)):
                begin = max(at, free[0])
                ends[i] = end = begin + demand
                heapq.heapreplace(free, begin + self.holds.get(pool, 1.0) * demand)
                there.append(end)
        if (patience := self.patience.get(pool)) is not None:
            self.left_s[pool] = max(0.0, max(free) - max(at for at, _ in jobs) - patience)
        return ends

    def _first_come(self, jobs: Sequence[tuple[float, float]]) -> list[float]:
        free, ends = [0.0] * self.workers, [0.0] * len(jobs)
        for i in sorted(range(len(jobs)), key=lambda i: jobs[i][0]):
            ends[i] = max(jobs[i][0], free[0]) + jobs[i][1]
            heapq.heapreplace(free, ends[i])
        return ends

    def _shared(self, jobs: Sequence[tuple[float, float]]) -> list[float]:
        arrivals = sorted(range(len(jobs)), key=lambda i: jobs[i][0])
        left: dict[int, float] = {}
        ends, now, place = [0.0] * len(jobs), 0.0, 0
        while place < len(arrivals) or left:
            pace = min(1.0, self.workers / len(left)) if left else 1.0
            first = min(left, key=left.__getitem__) if left else None
            done = now + left[first] / pace if first is not None else float("inf")
            comes = jobs[arrivals[place]][0] if place < len(arrivals) else float("inf")
            until = min(done, comes)
            left = {i: rest - (until - now) * pace for i, rest in left.items()}
            now = until
            if done <= comes and first is not None:
                ends[first] = now
                del left[first]
            else:
                left[arrivals[place]] = jobs[arrivals[place]][1]
                place += 1
        return ends

    def paused(self, at: float) -> float:
        """When a response that is done `at` leaves."""
        return next((begin + length for begin, length in self.pauses if begin <= at < begin + length), at)


class FakeSender:
    """Sends to a `Server`; nothing is measured and nothing takes time."""

    timeout_s = 10.0
    stopped = False

    def __init__(self, server: Server, budget: Budget) -> None:
        self.unconnected: Counter[str] = Counter()
        self._server = server
        self._budget = budget
        self._idle_s = 0.0

    def burst(self, due: Sequence[Due], opening: Route, opening_s: float) -> list[Response]:
        del opening, opening_s
        self._budget.sent(len(due), len({one.connection for one in due}))
        return self._responses([(one.at_s, one.route.name, one.connection) for one in due])

    def serial(self, route: Route, count: int, pause_s: float) -> list[Response]:
        self._budget.sent(count, 1)
        responses, now = [], 0.0
        for _ in range(count):
            responses += self._responses([(now, route.name, 0)])
            now = (responses[-1].end_s or now) + pause_s
        return responses

    def stream(
        self, route: Route, times_s: Sequence[float], connections: int, beside: BackgroundLoad | None = None
    ) -> list[Response]:
        del connections
        self._budget.sent(len(times_s), 1)
        others: list[tuple[float, str, int]] = []
        if beside is not None:
            each = self._server.demands[beside.route.name]
            if self._server.shared:
                each *= max(1.0, (beside.clients + 0.1) / self._server.workers)
            # Clients that begin at different times, and ask again as soon as they are answered.
            for client in range(beside.clients):
                at = -each * client / beside.clients
                while at < times_s[-1]:
                    others.append((max(0.0, at), beside.route.name, -1 - client))
                    at += each
        responses = self._responses([*((at, route.name, 0) for at in times_s), *others])
        return [response for response in responses if response.connection == 0]

    def light(self, stream: Stream, pauses_s: Sequence[float]) -> LightStream:
        """Those that are asked at random do so on connections of their own, from 1 on."""
        names, chance = [route.name for route in stream.routes], random.Random(5)
        mixed = chance.choices(names, stream.weights, k=len(stream.mixed_s))
        asked = [(at, names[0], 0) for at in stream.times_s]
        asked += [(at, name, 1) for at, name in zip(stream.mixed_s, mixed, strict=True)]
        self._budget.sent(len(asked) + 2 * len(pauses_s), 1 + len(pauses_s))
        responses = self._responses(asked)
        idle = [(pause, pause > self._server.idle_limit_s) for pause in pauses_s]
        busiest = sum(response.connection == 0 for response in responses)
        closed = busiest // (self._server.closes_after or busiest + 1)
        return LightStream(responses, idle, busiest, [self._server.closes_after] * closed)

    def rest(self, seconds: float) -> None:
        self._idle_s = seconds

    def flood(self, route: Route, count: int) -> list[Response]:
        self._budget.sent(count, count)
        return self._responses([(0.0, route.name, i) for i in range(count)])

    def give_up(self, route: Route, count: int, after_s: float, watched_s: float) -> None:
        del after_s, watched_s
        self._budget.sent(count, count)
        self._server.given_up(route.name, count)

    def _responses(self, sent: Sequence[tuple[float, str, int]]) -> list[Response]:
        server = self._server
        away = [server.away(at) for at, _, _ in sent]
        lost = [
            Response(name, connection, at, None, None, at + 1e-4, Outcome.CONNECT_REFUSED, 0)
            for (at, name, connection), gone in zip(sent, away, strict=True)
            if gone
        ]
        self.unconnected.update(str(response.outcome) for response in lost)
        sent = [one for one, gone in zip(sent, away, strict=True) if not gone]
        taken = [not server.refuses(at) for at, _, _ in sent]
        paths = [name.partition("?jostle")[0].partition("&jostle")[0] for _, name, _ in sent]
        jobs = [(at, server.demand(name)) for at, name, _ in sent]
        pools = [
            f"{path} on {connection}"
            if path in server.in_line
            else server.pools.get(path, "" if path == "/wait" else "cpu")
            for path, (_, _, connection) in zip(paths, sent, strict=True)
        ]
        ends: dict[int, float | None] = {}
        for pool in {*pools}:
            those = [i for i, of in enumerate(pools) if of == pool and taken[i]]
            own = [jobs[i] for i in those]
            done: Sequence[float | None] = (
                server.ends(own)
                if pool == "cpu"
                else server.pooled(pool, own)
                if pool
                else [at + demand for at, demand in own]
            )
            ends |= dict(zip(those, done, strict=True))
        responses = []
        for i, (at, name, connection) in enumerate(sent):
            end, waits_s = ends.get(i), server.patience.get(pools[i], 1000.0)
            if end is None or end > at + waits_s:
                status = 503 if taken[i] else 429
                then = at + (1e-4 if end is None else waits_s)
                refused = Response(name, connection, at, at, then, then, Outcome.WRONG_STATUS, status)
                responses.append(refused)
                continue
            end = server.paused(end) + (0.25 if self._idle_s > server.sleeps_after_s else 0.0)
            self._idle_s = 0.0
            head = max(at, end - server.delay_s)
            fate = (Outcome.WRONG_STATUS, 500) if server.broken(at) else (Outcome.OK, 200)
            responses.append(Response(name, connection, at, at, head, end, *fate))
        return sorted([*lost, *responses], key=lambda response: (response.due_s, response.connection))


def target_of(*routes: Route) -> Target:
    """A server that runs already."""
    return Target("http://127.0.0.1:1", "http://127.0.0.1:1", routes, WORKLOAD)


def look_at(target: Target, status: int = 200, **headers: str) -> list[ResponseHead]:
    """What each route answers, with these headers ("_" for "-")."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return [ResponseHead(route, status, named) for route in target.routes]


def explained(
    server: Server,
    *routes: Route,
    limits: Limits = GENTLE,
    overload: bool = False,
    tell: Tell = silent,
    cores: int | None = None,
    **headers: str,
) -> Explanation:
    """All probes against a calculated server. `cores`: how many it has, if jostle started it."""
    target = replace(target_of(*routes), cores=cores)
    budget = Budget(limits, now=lambda: 0.0)
    looks = look_at(target, **headers)
    sender, command = FakeSender(server, budget), ("jostle", "explain", target.url)
    with contextlib.ExitStack() as patches:
        for module in ("light", "run", "session"):  # other programs of this machine
            patches.enter_context(mock.patch(f"jostle.explain.{module}.pressure_s", return_value=0.0))
        return examine(target, looks, sender, budget, overload=overload, asked_with=command, tell=tell)


def session_of(*alone: Baseline, server: Server | None = None, **more: Any) -> Session:
    """After these were measured of `server`, which is a usual one unless given."""
    budget = Budget(THOROUGH, now=lambda: 0.0)
    sender = FakeSender(server or Server(), budget)
    known = {one.route.name: one for one in alone}
    return Session(target_of(FAST, SLOW), sender, budget, lambda _: None, alone=known, **more)


def response(due: float, took: float | None, status: int = 200, *, sent: float | None = None) -> Response:
    outcome = Outcome.OK if status == 200 else Outcome.WRONG_STATUS
    end = None if took is None else due + took
    return Response("fast", 0, due, due if sent is None else sent, end, end, outcome, status)
