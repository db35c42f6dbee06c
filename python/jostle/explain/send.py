"""Sends requests at given times with the engine, and returns what became of each.

A burst needs no special support from the engine. Each of its connections is a workload with one connection
and a trace of due times: first a request that opens the connection, later the burst's requests on it. Over
HTTP/2 those that are due at the same time are streams of that connection."""

import contextlib
import math
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Protocol

import numpy as np

from jostle.explain.discipline.burst import Burst, Job
from jostle.explain.server.limits import Budget
from jostle.explain.server.target import Route, Target
from jostle.generator import LocalExecutor, Running
from jostle.host.cores import real_time_allowed
from jostle.host.halts import Halt, watched
from jostle.record.outcomes import NOT_CONNECTED, REFUSALS, TIMEOUTS, Outcome
from jostle.record.row_columns import ENGINE_COLUMNS

__all__ = [
    "DELAYED_ACK_S",
    "MAX_EXCESS",
    "BackgroundLoad",
    "ConnectionCounter",
    "Due",
    "EngineSender",
    "LightStream",
    "Response",
    "Sender",
    "Stream",
    "as_burst",
    "awaits_acknowledgement",
    "median_service_s",
]

OUTCOMES = list(Outcome)

MAX_EXCESS = 3.0
"""How far the allowed rate may be exceeded during a stream; afterwards nothing is sent until the average is
within the limit.
"""

SLACK_S = 1.0
"""Clients that begin at once may send what is allowed for this time in advance."""

POLL_S = 0.5

REST_S = 0.02
"""Pause between the opening of the last connection and the burst, in addition to what the opening request
takes.
"""

NS = 1_000_000_000

SHORT_NS = NS // 100
"""Intervals so short that hardly two responses come within one, so that those on a connection are counted."""


@dataclass(frozen=True)
class Due:
    """A request of a burst: when, in seconds since the burst began, for what, and on which connection (from
    0).
    """

    at_s: float
    route: Route
    connection: int


DELAYED_ACK_S = 0.035, 0.060
"""By how long a client's kernel delays an acknowledgement: Linux by 40 ms or more."""


def awaits_acknowledgement(body_after_s: float) -> bool:
    """Whether a body comes so long after its head as one whose server writes both apart, and waits."""
    shortest_s, longest_s = DELAYED_ACK_S
    return shortest_s <= body_after_s <= longest_s


@dataclass(frozen=True)
class Response:
    """What became of a request. All times are in seconds since the same moment.

    `sent_s`: None if it was never sent. `headers_s`, `end_s`: None without a response. `status`: 0 if none
    came.
    """

    route: str
    connection: int
    due_s: float
    sent_s: float | None
    headers_s: float | None
    end_s: float | None
    outcome: Outcome
    status: int

    @property
    def ok(self) -> bool:
        return self.outcome is Outcome.OK

    @property
    def service_s(self) -> float | None:
        """From the actual send to the last byte; None unless the request was answered as expected."""
        return self._until_end_s(self.sent_s)

    @property
    def response_s(self) -> float | None:
        """From when it was due to the last byte; None unless the request was answered as expected."""
        return self._until_end_s(self.due_s)

    @property
    def body_after_s(self) -> float | None:
        """From the head to the last byte; None unless the request was answered as expected."""
        return self._until_end_s(self.headers_s)

    def _until_end_s(self, since_s: float | None) -> float | None:
        """From then to the last byte."""
        if not self.ok or self.end_s is None or since_s is None:
            return None
        return self.end_s - since_s

    @property
    def refusal(self) -> str:
        """How the server refused the request, in words for a sentence; "" if it did not.

        A refusal is a status 429 or 503; for a gRPC call, which succeeded when the route was first tried, it
        is any status other than OK.
        """
        if self.outcome is Outcome.GRPC_STATUS:
            return "a gRPC status other than OK"
        return str(self.status) if self.status in (429, 503) else ""

    @property
    def refused(self) -> bool:
        return self.refusal != ""

    @property
    def fate(self) -> str:
        """What became of it if it was not answered as expected; "" if it was."""
        if self.ok:
            return ""
        if self.outcome is Outcome.WRONG_STATUS:
            return f"answered with {self.status}"
        if self.outcome in TIMEOUTS:
            return "never answered"
        if self.outcome is Outcome.CONNECT_REFUSED:
            return "refused"
        if self.outcome in REFUSALS:
            return "reset"
        return str(self.outcome).replace("_", " ")


@dataclass(frozen=True)
class LightStream:
    """The result of a light stream. `idle`: for each of the connections that stayed idle, for how long, in
    seconds, and whether the server had closed it by then. `busiest`: how many responses came on the one
    client that opens a connection after the other, 0 in `responses`. `carried`: how many of these came on
    each of its connections that the server closed, to within those of a hundredth of a second. `halts`: when
    the machine stood still on which the server is as well.
    """

    responses: list[Response]
    idle: list[tuple[float, bool]]
    busiest: int = 0
    carried: Sequence[int] = ()
    halts: Sequence[Halt] = ()


@dataclass(frozen=True)
class Stream:
    """What a light stream asks: `times_s` on one connection for the first of `routes`, and at other times,
    `mixed_s`, for all of them at random, in proportion to `weights`, on a pool of `connections`.
    """

    routes: Sequence[Route]
    weights: Sequence[int]
    times_s: Sequence[float]
    mixed_s: Sequence[float]
    connections: int


@dataclass(frozen=True)
class BackgroundLoad:
    """Clients that ask for a route back to back while something else is measured."""

    route: Route
    clients: int


def median_service_s(responses: Sequence[Response]) -> float | None:
    """The median service time of those answered as expected; None if there were none."""
    times = [response.service_s for response in responses if response.service_s is not None]
    return statistics.median(times) if times else None


class Sender(Protocol):
    """Sends requests and returns what became of them, in the order in which they were due.

    `timeout_s`: when it gives a request up. `stopped`: whether the last probe was ended because it would have
    sent far more than is allowed. `unconnected`: how many requests there was no connection for, in all probes
    so far, by outcome.
    """

    timeout_s: float
    stopped: bool
    unconnected: Counter[str]

    def burst(self, due: Sequence[Due], opening: Route, opening_s: float) -> list[Response]:
        """Sends a burst on connections that were opened before with `opening`, which takes `opening_s`."""

    def serial(self, route: Route, count: int, pause_s: float) -> list[Response]:
        """One client on one connection sends each request `pause_s` after the previous response."""

    def stream(
        self, route: Route, times_s: Sequence[float], connections: int, beside: BackgroundLoad | None = None
    ) -> list[Response]:
        """Sends requests at given times, independently of the responses, on a pool of connections."""

    def light(self, stream: Stream, pauses_s: Sequence[float]) -> LightStream:
        """Sends a light stream; further connections are idle, each for one of `pauses_s`."""

    def rest(self, seconds: float) -> None:
        """Sends nothing for so long."""

    def flood(self, route: Route, count: int) -> list[Response]:
        """Sends `count` requests at once, each on a new connection."""

    def give_up(self, route: Route, count: int, after_s: float, watched_s: float) -> None:
        """Sends `count` requests at once, each on a new connection that is closed if no response comes within
        `after_s`; returns `watched_s` after they were sent at the earliest."""


def as_burst(responses: Sequence[Response], demands_s: Mapping[str, float], delay_s: float = 0.0) -> Burst:
    """The burst that these responses belong to; its times count from the first send. `demands_s`: service
    times by route name, which include the network delay. `delay_s`: what the network adds to every response.
    Requests that were never sent are left out.
    """
    sent = [(response, response.sent_s) for response in responses if response.sent_s is not None]
    begin = min((at for _, at in sent), default=0.0)
    return Burst(
        tuple(
            Job(at - begin, max(demands_s[response.route] - delay_s, 1e-6), response.connection)
            for response, at in sent
        ),
        tuple(
            response.end_s - begin - delay_s if response.ok and response.end_s is not None else None
            for response, _ in sent
        ),
    )


class ConnectionCounter:
    """Counts the responses on each connection of a client that opens one after the other.

    `closed`: those on all connections but the last one.
    """

    def __init__(self) -> None:
        self.closed: list[int] = []
        self._open: int | None = None

    def add(self, responses: int, connects: int) -> None:
        """Responses within an interval in which so many connections were opened. The interval is so short
        that its last responses came on the last of these, one on each of the others.
        """
        for _ in range(connects):
            if self._open is not None:
                self.closed.append(self._open)
            self._open = 0
        if self._open is not None:
            self._open += responses


class EngineSender:
    """Sends with the engine, in threads of this process, and charges what was sent to `budget`. Before each
    probe it waits until the average rate is within the limit.
    """

    def __init__(self, target: Target, budget: Budget, timeout_s: float) -> None:
        self._target = target
        self._budget = budget
        self.timeout_s = timeout_s
        self.stopped = False
        self.unconnected: Counter[str] = Counter()
        self._executor = LocalExecutor(1)
        self._real_time = real_time_allowed()
        self._started_unix_s = 0.0

    def burst(self, due: Sequence[Due], opening: Route, opening_s: float) -> list[Response]:
        step = max(1 / self._budget.rate_per_s, opening_s)
        ordered = sorted(due, key=lambda one: (one.connection, one.at_s))
        lanes = [(number, list(jobs)) for number, jobs in groupby(ordered, key=lambda one: one.connection)]
        begin_s = (len(lanes) - 1) * step + 2 * opening_s + REST_S
        workloads = [
            self._lane(
                f"connection {number}",
                [opening, *(job.route for job in jobs)],
                [place * step, *(begin_s + job.at_s for job in jobs)],
            )
            for place, (number, jobs) in enumerate(lanes)
        ]
        responses = [
            replace(response, connection=lanes[workload][0])
            for interval in self._intervals(workloads)
            for workload, request, response in _rows(interval, workloads, begin_s)
            if request > 0  # request 0 opened the connection
        ]
        self._budget.need(1e-9)  # else the burst was cut short
        return sorted(responses, key=lambda response: (response.due_s, response.connection))

    def why_not(self, route: Route) -> str:
        """Asks once. Returns why the request was not answered as expected; "" if it was."""
        failures: list[str] = []
        for interval in self._intervals([self._closed(route, 1, 0.0, 1)]):
            for series in interval["series"]:
                failures += [", ".join(texts) or outcome for outcome, texts in series["failures"].items()]
        return ", ".join(failures)

    def serial(self, route: Route, count: int, pause_s: float) -> list[Response]:
        return self._responses([self._closed(route, 1, pause_s, count)])

    def stream(
        self, route: Route, times_s: Sequence[float], connections: int, beside: BackgroundLoad | None = None
    ) -> list[Response]:
        workloads = [self._open(route.name, [route], times_s, connections)]
        if beside is not None:
            workloads.append(self._closed(beside.route, beside.clients, 0.0, None, role="background"))
        return self._responses(workloads)

    def light(self, stream: Stream, pauses_s: Sequence[float]) -> LightStream:
        first = stream.routes[0]
        mixed = self._open("mixed", stream.routes, stream.mixed_s, stream.connections)
        weighed = zip(mixed["requests"], stream.weights, strict=True)
        workloads = [
            self._open(first.name, [first], stream.times_s, connections=1),
            {**mixed, "requests": [{**request, "weight": n} for request, n in weighed], "order": "weighted"},
            *(
                self._open(
                    f"idle {pause:g} s", [first], [place * REST_S, place * REST_S + pause], connections=1
                )
                for place, pause in enumerate(pauses_s)
            ),
        ]
        responses: list[Response] = []
        connects = [0] * len(workloads)
        carried, busiest = ConnectionCounter(), 0
        halts: list[Halt] = []
        with watched(halts) if self._target.is_local else contextlib.nullcontext():
            for interval in self._intervals(workloads, interval_ns=SHORT_NS):
                came = [(workload, response) for workload, _, response in _rows(interval, workloads, 0.0)]
                own = sum(workload == 0 for workload, _ in came)
                responses += [
                    replace(response, connection=response.connection + workload)
                    for workload, response in came
                    if workload <= 1
                ]
                carried.add(own, interval["workloads"][0]["connects"])
                busiest += own
                for place, state in enumerate(interval["workloads"]):
                    connects[place] += state["connects"]
        responses.sort(key=lambda response: response.due_s)
        closed = [count > 1 for count in connects[2:]]
        idle = list(zip(pauses_s, closed, strict=True))
        still = [halt.since(self._started_unix_s) for halt in halts]
        return LightStream(responses, idle, busiest, carried.closed, still)

    def rest(self, seconds: float) -> None:
        self._budget.need(seconds)
        time.sleep(seconds)

    def flood(self, route: Route, count: int) -> list[Response]:
        return self._responses([self._open(route.name, [route], [0.0] * count, connections=count)])

    def give_up(self, route: Route, count: int, after_s: float, watched_s: float) -> None:
        began = time.monotonic()
        workload = self._open(route.name, [route], [0.0] * count, connections=count)
        timeouts = {**workload["timeouts"], "total_ns": round(after_s * NS)}
        self._responses([{**workload, "timeouts": timeouts}])
        time.sleep(max(0.0, watched_s - (time.monotonic() - began)))

    def _open(
        self, name: str, routes: Sequence[Route], times_s: Sequence[float], connections: int
    ) -> dict[str, Any]:
        times = [round(at * NS) for at in times_s]
        load = {
            "arrivals": {"trace": times},
            "rates": [],
            "requests": len(times),
            "max_connections": connections,
        }
        return self._workload(name, routes, {"open": load})

    def _lane(self, name: str, routes: Sequence[Route], times_s: Sequence[float]) -> dict[str, Any]:
        """Requests on one connection, over HTTP/2 as a stream for each that is due at the same time."""
        streams = max(Counter(times_s).values())
        workload = self._open(name, routes, times_s, connections=streams)
        if streams == 1:
            return workload
        assert self._target.has_streams, "only HTTP/2 sends several requests at once on one connection"
        return {**workload, "target": {**workload["target"], "http2": {"connections": 1}}}

    def _closed(
        self, route: Route, clients: int, pause_s: float, requests: int | None, role: str = "measured"
    ) -> dict[str, Any]:
        think = {"constant": {"ns": round(pause_s * NS)}} if pause_s else "none"
        load = {"clients": clients, "think": think, "requests": requests}
        return {**self._workload(f"{role} {route.name}", [route], {"closed": load}), "role": role}

    def _workload(self, name: str, routes: Sequence[Route], load: dict[str, Any]) -> dict[str, Any]:
        pattern = self._target.workload
        return {
            **pattern,
            "name": name,
            "role": "measured",
            "requests": [self._target.request(route) for route in routes],
            "order": "sequence",
            "load": load,
            "timeouts": {**pattern["timeouts"], "total_ns": round(self.timeout_s * NS)},
        }

    def _responses(self, workloads: Sequence[Mapping[str, Any]]) -> list[Response]:
        intervals = self._intervals(workloads)
        responses = [response for interval in intervals for _, _, response in _rows(interval, workloads, 0.0)]
        return sorted(responses, key=lambda response: response.due_s)

    def _intervals(
        self, workloads: Sequence[Mapping[str, Any]], interval_ns: int = NS // 10
    ) -> Iterator[Any]:
        """Raises `NoTime` if the last request would be due after the present stage, or if that ends before
        all responses of a burst have come; whatever has no number of requests is cut short instead.
        """
        budget = self._budget
        budget.need(budget.rest_s + max(map(_last_due_s, workloads)))
        time.sleep(budget.rest_s)
        spec = {
            "seed": 1,
            "threads": 1,
            "cores": list(self._target.generator_cores),
            "real_time": self._real_time,
            "busy_poll": False,
            "duration_ns": None,
            "interval_ns": interval_ns,
            "rows": True,
            "start_unix_ns": None,
            "workloads": list(workloads),
        }
        began, requests, self.stopped = time.monotonic(), 0, False
        running = self._executor.start(self._executor.prepare(spec))
        self._started_unix_s = running.started_unix_ns / NS
        with _stopped(running):
            while True:
                interval = running.next_interval(POLL_S)
                if budget.left_s == 0:
                    running.stop()
                if interval is None:
                    continue
                requests += sum(state["sent"] for state in interval["workloads"])
                for series in interval["series"]:
                    lost = {kind: n for kind, n in series["outcomes"].items() if kind in NOT_CONNECTED}
                    self.unconnected.update(lost)
                if requests > self._most(workloads, time.monotonic() - began):
                    self.stopped = True  # somebody is answered at once, if only with refusals
                    running.stop()
                yield interval
                if interval["last"]:
                    break
        budget.sent(requests, sum(map(_connections, workloads)))

    def _most(self, workloads: Sequence[Mapping[str, Any]], after_s: float) -> float:
        """How many requests may have been sent by then; infinite if the number in all is given."""
        loads = (next(iter(workload["load"].values())) for workload in workloads)
        given: list[int | None] = [load["requests"] for load in loads]
        if None not in given:
            return math.inf
        extra = MAX_EXCESS * self._budget.rate_per_s * (after_s + SLACK_S)
        return sum(filter(None, given)) + sum(map(_connections, workloads)) + extra


@contextlib.contextmanager
def _stopped(running: Running) -> Iterator[None]:
    """Stops the engine on any exception, so that nothing is sent after Ctrl-C."""
    try:
        yield
    except BaseException:
        running.stop()
        raise


def _last_due_s(workload: Mapping[str, Any]) -> float:
    """When its last request is due, if that is known beforehand; otherwise 0."""
    load = workload["load"]
    return max(load["open"]["arrivals"]["trace"], default=0) / NS if "open" in load else 0.0


def _connections(workload: Mapping[str, Any]) -> int:
    load, http2 = workload["load"], workload["target"].get("http2")
    if http2 is not None and http2["connections"] is not None:
        return int(http2["connections"])
    return int(load["closed"]["clients"] if "closed" in load else load["open"]["max_connections"])


def _rows(
    interval: Any, workloads: Sequence[Mapping[str, Any]], begin_s: float
) -> Iterator[tuple[int, int, Response]]:
    """Yields the index of the workload, the index of the request in it, and its response, with times relative
    to `begin_s`.
    """
    rows = interval["rows"]
    if not rows:
        return
    columns = [np.frombuffer(rows[name], dtype=kind).tolist() for name, kind in ENGINE_COLUMNS.items()]
    for workload, request, client, due, sent, headers, end, outcome, status, _ in zip(*columns, strict=True):
        name = workloads[workload]["requests"][request]["name"]
        sent_s, headers_s, end_s = (None if at == 0 else at / NS - begin_s for at in (sent, headers, end))
        response = Response(
            name, client, due / NS - begin_s, sent_s, headers_s, end_s, OUTCOMES[outcome], status
        )
        yield workload, request, response
