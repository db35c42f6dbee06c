"""The state that all probes of one explanation share."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from jostle.explain.burst import Burst, Job
from jostle.explain.candidates import Family
from jostle.explain.fit import unsteadiness
from jostle.explain.limits import Budget, Limits
from jostle.explain.results import InterferenceCell, SentBurst, StreamPoint
from jostle.explain.send import Due, LightStream, Response, Sender, as_burst, median_service_s
from jostle.explain.target import Route, Target
from jostle.host.pressure import pressure_s

__all__ = ["Baseline", "Session"]

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

    intermediary: str = ""
    """The header that reveals a proxy or cache in between; empty if there is none."""

    overload: bool = False
    seed: int = 1
    alone: dict[str, Baseline] = field(default_factory=dict)
    """The measured routes, by name."""

    served: dict[str, list[Response]] = field(default_factory=dict)
    """All requests behind them, from the very first on."""

    parallelism: float | None = None
    """How many requests progress at once; like the next three, from the bursts."""

    most_at_once: float | None = None
    """The upper bound of that; None if none is known."""

    overtaking: bool | None = None
    family: Family | None = None
    bursts: list[SentBurst] = field(default_factory=list)
    """All that was sent, for pictures and for the record; so are the next two."""

    interference: list[InterferenceCell] = field(default_factory=list)
    stream: list[StreamPoint] = field(default_factory=list)
    light: LightStream | None = None
    """The result of the light stream."""

    _sent: list["_Sent"] = field(default_factory=list)
    _waited: list[tuple[float, float]] = field(default_factory=list)
    pressure: float | None = None
    """The share of the light stream's time in which some thread of this machine waited for a core."""

    refusals: int = 0
    """How many requests the server refused."""

    @property
    def limits(self) -> Limits:
        return self.budget.limits

    def pause_s(self, route: Route) -> float:
        """One client's pause between a response and its next request that keeps the rate within the limit."""
        known = self.alone.get(route.name)
        return max(0.0, 1 / self.limits.rate_per_s - (known.demand_s if known else 0.0))

    @property
    def opening(self) -> Baseline:
        """The shortest route, which is used to open connections."""
        return min(self.alone.values(), key=lambda alone: alone.demand_s)

    @property
    def slow(self) -> Baseline | None:
        """The longest route that computes, or the only one there is."""
        known = [alone for alone in self.alone.values() if alone.route.role != "wait"]
        return max(known, key=lambda alone: alone.demand_s, default=None)

    def send_jobs(self, probe: str, jobs: tuple[Job, ...], routes: Mapping[float, Route]) -> None:
        """Sends a burst and keeps its result, if any was sent. `routes`: the route for each demand.

        The speed of a shared machine, or of a core that heats up, may change from one second to the next. So
        a burst of requests that compute is compared with what the slow route takes just before it.
        """
        computes = all(route.role != "wait" for route in routes.values())
        pace_s = self._pace_s() if computes else None
        opening = self.opening
        due = [Due(job.at, routes[job.demand], job.connection) for job in jobs]
        responses = self.sender.burst(due, opening.route, opening.demand_s)
        self.refusals += sum(response.refused for response in responses)
        if all(response.sent_s is None for response in responses):
            return  # the server was away: there is no burst
        sent = _Sent(probe, responses, pace_s)
        self._sent.append(sent)
        burst = as_burst(responses, self._demands_s(self._pace(sent)), self.delay_s)
        names = [response.route for response in responses if response.sent_s is not None]
        self.bursts.append(SentBurst.of(probe, names, burst))

    def observed(self, probe: str) -> list[Burst]:
        """The bursts of a probe, with the service times as they are known now. On a machine whose speed
        changes, all times are rescaled to the speed at which these service times were measured.
        """
        steady = self.unsteady == 0
        return [
            as_burst(sent.responses, self._demands_s(), self.delay_s).at_pace(
                1.0 if steady else self._pace(sent)
            )
            for sent in self._sent
            if sent.probe == probe
        ]

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
        self.refusals += sum(response.refused for response in responses)
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
        return {name: alone.demand_s * pace for name, alone in self.alone.items()}


@dataclass(frozen=True)
class _Sent:
    """A burst. `pace_s`: what the slow route took just before it; None if that was not measured."""

    probe: str
    responses: list[Response]
    pace_s: float | None
