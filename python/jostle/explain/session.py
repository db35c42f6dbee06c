"""The state that all probes of one explanation share."""

import statistics
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from jostle.analysis.results import Estimate
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import from_values
from jostle.explain.discipline.burst import Burst, Job
from jostle.explain.discipline.candidates import Family
from jostle.explain.discipline.fit import unsteadiness
from jostle.explain.discipline.inference import Decision, Inference, Range
from jostle.explain.finding import Finding
from jostle.explain.results import InterferenceCell, SentBurst, StreamPoint
from jostle.explain.send import (
    Due,
    LightStream,
    Response,
    Sender,
    as_burst,
    awaits_acknowledgement,
    median_service_s,
)
from jostle.explain.server.limits import Budget, Limits
from jostle.explain.server.target import Route, Target
from jostle.explain.slow_responses.in_flight import beside_one
from jostle.explain.slow_responses.requests import Requests
from jostle.formatting import listed
from jostle.host.pressure import pressure_s
from jostle.record.outcomes import ENDED_BY_STOP, NOT_CONNECTED

__all__ = ["COMPUTES", "LATE", "Baseline", "Held", "Session", "equal_probe", "undisturbed"]

COMPUTES = 0.7
"""From this share of its service time in which the server's CPU was busy, a route is said to compute."""

DELAYED_OFTEN = 0.3
"""From this share of bodies that come after a delayed acknowledgement on, the server waits for it."""

PACE = 3
"""Requests that measure the machine's speed before each burst; even if one of them is held up, their median
is usable.
"""


@dataclass(frozen=True)
class Baseline:
    """A route, measured with one request at a time."""

    route: Route
    demand_s: float
    """Median service time in seconds."""

    spread: float
    """Robust standard deviation over the median."""

    cpu_share: float | None = None
    """The share of the service time in which the server computed; None if not known."""

    queued_share: float | None = None
    """The share in which it was ready to compute but had no core; None if not known."""

    service: Estimate | None = None
    """The median with its interval."""

    @property
    def computes(self) -> bool | None:
        """Whether the server computes for most of its time; None if that is not known."""
        return None if self.cpu_share is None else self.cpu_share >= COMPUTES


def equal_probe(route: str) -> str:
    """The name of the bursts of equal requests for a route."""
    return f"equal {route}"


def undisturbed(bursts: Sequence[Burst], standstill_s: float) -> list[Burst]:
    """Without those that took longer than the quickest of the same requests by more than half a standstill,
    and, where their order differs, than the longest of them.
    """
    kinds: dict[tuple[float, ...], list[Burst]] = {}
    for burst in bursts:
        kinds.setdefault(tuple(sorted(job.demand for job in burst.jobs)), []).append(burst)
    kept = []
    for demands, those in kinds.items():
        lasts = [max((end for end in burst.ends if end is not None), default=0.0) for burst in those]
        order_s = demands[-1] if demands and demands[0] != demands[-1] else 0.0
        limit_s = min(lasts) + order_s + standstill_s / 2
        kept += [burst for burst, last in zip(those, lasts, strict=True) if last <= limit_s]
    return [burst for burst in bursts if burst in kept]


LATE = 1.5
"""A refusal after so many service times is no full queue: somebody gave up waiting."""


@dataclass(frozen=True)
class Held:
    """Of each burst that was too large, `accepted` requests were answered. `refused`: with what the others
    were refused, and `after` what time.
    """

    accepted: int
    refused: str
    after: Estimate

    @property
    def figures(self) -> dict[str, Estimate]:
        return {"held": Estimate(float(self.accepted), unit=""), "after": self.after}

    def refused_late(self, demand_s: float) -> bool:
        """Whether they were refused only after a time in which they might have been served."""
        return (self.after.value or 0.0) > LATE * demand_s


@dataclass
class Session:
    """What is known about a server so far, and the means to ask it."""

    target: Target
    sender: Sender
    budget: Budget
    tell: Callable[[str], None]
    """Called with what is being asked."""

    delay_s: float = 0.0
    """What the network adds to every response."""

    server: str = ""
    """What it calls itself."""

    intermediary: str = ""
    """The header that reveals a proxy or cache in between; empty if there is none."""

    overload: bool = False
    seed: int = 1
    alone: dict[str, Baseline] = field(default_factory=dict)
    """The measured routes, by name."""

    parts: dict[str, Baseline] = field(default_factory=dict)
    """Smaller requests for a route whose size is a parameter, by name."""

    served: dict[str, list[Response]] = field(default_factory=dict)
    """All requests behind them, from the very first on."""

    parallelism: float | None = None
    """How many requests progress at once; like the next three, from the bursts."""

    most_at_once: float | None = None
    """The upper bound of that; None if none is known."""

    overtaking: bool | None = None
    family: Family | None = None
    slots_of: dict[str, Decision[Range]] = field(default_factory=dict)
    """By route, how many requests are served at a time."""

    inference: Inference | None = None
    """The order of service, from the bursts of several sizes."""

    unsettled_s: dict[str, list[float]] = field(default_factory=dict)
    """By route, for how long single requests were refused or slow after each burst with refusals."""

    shared: dict[tuple[str, str], bool | None] = field(default_factory=dict)
    """Whether two routes share these."""

    waits_beside: dict[str, str] = field(default_factory=dict)
    """Whether the shortest route waits beside another one: "waits", "free" or "partly"."""

    rare_blockers: tuple[str, ...] = ()
    """The routes some of whose requests are slow now and then, and let others wait."""

    standstill_s: float = 0.0
    """How long some requests take besides, or the server stands still, now and then."""

    bursts: list[SentBurst] = field(default_factory=list)
    """All that was sent, for pictures and for the record; so are the next two."""

    interference: list[InterferenceCell] = field(default_factory=list)
    stream: list[StreamPoint] = field(default_factory=list)
    light: LightStream | None = None
    """The result of the light stream."""

    requests: Requests | None = None
    """Those of its requests that were answered."""

    _sent: list["_Sent"] = field(default_factory=list)
    _waited: list[tuple[float, float]] = field(default_factory=list)
    pressure: float | None = None
    """The share of the light stream's time in which some thread of this machine waited for a core, besides
    the server's own stalls.
    """

    refusals: int = 0
    """How many requests the server refused."""

    response_counts: Counter[str] = field(default_factory=Counter)
    """How many responses came for each route; `wrong`: of those, how many were neither as expected nor a
    refusal, by what they were.
    """

    wrong: Counter[tuple[str, str]] = field(default_factory=Counter)
    memory: list[tuple[int, int]] = field(default_factory=list)
    """After each stage: how many requests had been sent, and how many bytes the server held."""

    rate_limit: Finding | None = None
    """The limit that the server was found to have before anything else could be asked."""

    def note_memory(self) -> None:
        """Reads how much memory the server holds now, if its process is known."""
        if self.target.usage is not None and (held := self.target.usage().memory_bytes):
            self.memory.append((self.budget.requests, held))

    def note(self, responses: Sequence[Response]) -> None:
        """Counts what became of requests."""
        self.refusals += sum(response.refused for response in responses)
        for response in responses:
            if response.end_s is not None and response.outcome not in (*NOT_CONNECTED, *ENDED_BY_STOP):
                self.response_counts[response.route] += 1
                if not response.ok and not response.refused:
                    self.wrong[response.route, response.fate] += 1

    @property
    def bodies_after_s(self) -> list[float]:
        """How long after their heads the bodies came of the requests that were sent one at a time."""
        after_s = (one.body_after_s for those in self.served.values() for one in those)
        return [each for each in after_s if each is not None]

    @property
    def bodies_wait(self) -> bool:
        """Whether so many of them came after a delayed acknowledgement that the server waits for it."""
        late = [awaits_acknowledgement(after_s) for after_s in self.bodies_after_s]
        return bool(late) and sum(late) / len(late) >= DELAYED_OFTEN

    @property
    def limits(self) -> Limits:
        return self.budget.limits

    def pause_s(self, route: Route) -> float:
        """One client's pause between a response and its next request that keeps the rate within the limit."""
        known = self.alone.get(route.name)
        return max(0.0, 1 / self.budget.rate_per_s - (known.demand_s if known else 0.0))

    @property
    def sizes(self) -> dict[str, Baseline]:
        """All requests whose service time is known."""
        return {**self.alone, **self.parts}

    @property
    def slots(self) -> dict[str, Range]:
        """How many requests are served at a time, for the routes of which that is known."""
        return {name: one.value for name, one in self.slots_of.items() if one.value is not None}

    def free_beside(self, name: str) -> bool | None:
        """Whether other routes go on while all slots of this one are taken; None if that is not known."""
        if self.holds_up(name):
            return False
        says = self.waits_beside.get(name)
        return None if says in (None, "partly") else says == "free"

    def holds_up(self, name: str) -> bool:
        """Whether a single request for the route was seen to let whatever else was asked for wait."""
        requests = self.requests
        return requests is not None and name in requests.names and beside_one(requests, name).waits is True

    def service(self, name: str) -> Estimate:
        """What a request for a route takes by itself."""
        one = self.alone[name]
        return one.service or Estimate(one.demand_s)

    @property
    def opening(self) -> Baseline:
        """The shortest route, which is used to open connections."""
        return min(self.alone.values(), key=lambda alone: alone.demand_s)

    @property
    def slow(self) -> Baseline | None:
        """The longest route that computes, or the only one there is."""
        known = [alone for alone in self.alone.values() if alone.route.role != "wait"]
        return max(known, key=lambda alone: alone.demand_s, default=None)

    def send_jobs(
        self, probe: str, jobs: tuple[Job, ...], routes: Mapping[float, Route]
    ) -> Sequence[Response]:
        """Sends a burst, keeps its result, if any was sent, and returns it. `routes`: the route for each
        demand.

        The speed of a shared machine, or of a core that heats up, may change from one second to the next. So
        a burst of requests that compute is compared with what the slow route takes just before it.
        """
        computes = all(route.role != "wait" for route in routes.values())
        pace_s = self._pace_s() if computes else None
        opening = self.opening
        due = [Due(job.at, routes[job.demand], job.connection) for job in jobs]
        responses = self.sender.burst(due, opening.route, opening.demand_s)
        self.note(responses)
        if all(response.sent_s is None for response in responses):
            return responses  # the server was away: there is no burst
        sent = _Sent(probe, responses, pace_s)
        self._sent.append(sent)
        burst = as_burst(responses, self._demands_s(self._pace(sent)), self.delay_s)
        names = [response.route for response in responses if response.sent_s is not None]
        self.bursts.append(SentBurst.of(probe, names, burst))
        return responses

    def observed(self, probe: str) -> list[Burst]:
        """The bursts of a probe, with the service times as they are known now. On a machine whose speed
        changes, all times are rescaled to the speed at which these service times were measured. Bursts into
        which a standstill fell are left out.
        """
        steady = self.unsteady == 0
        bursts = [
            as_burst(sent.responses, self._demands_s(), self.delay_s).at_pace(
                1.0 if steady else self._pace(sent)
            )
            for sent in self._sent
            if sent.probe == probe
        ]
        return undisturbed(bursts, self.standstill_s) if self.standstill_s else bursts

    def forget(self, probe: str) -> None:
        """Leaves out the bursts of a probe that have been sent so far: the server has changed since."""
        self._sent = [sent for sent in self._sent if sent.probe != probe]

    def held(self, probe: str) -> Held | None:
        """How many requests of each burst were not refused, if it is the same number in all bursts in which
        any were refused; None if none were, or if the number differs.
        """
        refused = [sent.responses for sent in self._sent if sent.probe == probe]
        refused = [those for those in refused if any(one.refused for one in those)]
        counts = [sum(one.ok for one in those) for those in refused]
        if len(counts) < 2 or max(counts) - min(counts) > 1 or min(counts) == 0:
            return None
        kinds = {one.refusal for those in refused for one in those if one.refused}
        after = [
            one.end_s - one.sent_s
            for those in refused
            for one in those
            if one.refused and one.end_s is not None and one.sent_s is not None
        ]
        took = quantile_estimate(from_values(after), 0.5)
        return Held(round(statistics.median(counts)), listed(sorted(kinds)), took)

    @property
    def unsteady(self) -> float:
        """How much the machine's speed changes, judging by the requests before each burst; see
        `unsteadiness`.
        """
        return unsteadiness([sent.pace_s for sent in self._sent if sent.pace_s is not None])

    @property
    def contended(self) -> float:
        """The share of the time of those requests in which some thread waited for a core. One request at a
        time keeps only one core busy, so the cores were taken by other programs. 0 if not known.
        """
        waited_s, seconds = (sum(part[which] for part in self._waited) for which in (0, 1))
        return waited_s / seconds if seconds > 0 else 0.0

    def _pace_s(self) -> float | None:
        """What the slow route takes right now; None if it is not answered."""
        if self.slow is None:
            return None
        before_s, began = pressure_s("cpu"), time.monotonic()
        responses = self.sender.serial(self.slow.route, PACE, self.pause_s(self.slow.route))
        self.note(responses)
        after_s = pressure_s("cpu")
        if before_s is not None and after_s is not None:
            self._waited.append((after_s - before_s, time.monotonic() - began))
        return median_service_s(responses)

    def _pace(self, sent: "_Sent") -> float:
        """How many times as long as usual a request took just before the burst; 1 if not measured."""
        slow = self.slow
        return sent.pace_s / slow.demand_s if sent.pace_s is not None and slow is not None else 1.0

    def _demands_s(self, pace: float = 1.0) -> dict[str, float]:
        """Service times by route name, on a machine that takes `pace` times as long as usual."""
        return {name: alone.demand_s * pace for name, alone in self.sizes.items()}


@dataclass(frozen=True)
class _Sent:
    """A burst. `pace_s`: what the slow route took just before it; None if that was not measured."""

    probe: str
    responses: list[Response]
    pace_s: float | None
