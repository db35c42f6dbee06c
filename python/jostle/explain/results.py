"""An explanation as data: what is shown, written as JSON, and described by its schema."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from jostle.explain.burst import Burst
from jostle.explain.candidates import Family
from jostle.explain.finding import Finding, Topic

__all__ = ["FORMAT", "Explanation", "InterferenceCell", "RouteEntry", "SentBurst", "SentJob", "StreamPoint"]

FORMAT = 1


@dataclass(frozen=True)
class RouteEntry:
    """A route that was asked for: `service_s` median of requests one at a time, None where none was
    answered.
    """

    path: str
    role: str
    service_s: float | None


@dataclass(frozen=True)
class SentJob:
    """A request of a burst, seconds since the burst began. `end_s`: None where it was not answered as
    expected.
    """

    route: str
    connection: int
    demand_s: float
    at_s: float
    end_s: float | None


@dataclass(frozen=True)
class SentBurst:
    """`probe`: what it was sent for."""

    probe: str
    jobs: list[SentJob]

    @classmethod
    def of(cls, probe: str, routes: Sequence[str], burst: Burst) -> "SentBurst":
        """`routes`: names, one for each job."""
        jobs = zip(routes, burst.jobs, burst.ends, strict=True)
        return cls(probe, [SentJob(name, job.connection, job.demand, job.at, end) for name, job, end in jobs])


@dataclass(frozen=True)
class InterferenceCell:
    """Requests of `route` while `clients` ask back to back for `beside` ("": nobody does). Medians in
    seconds.
    """

    route: str
    beside: str
    clients: int
    n: int
    median_s: float | None
    p90_s: float | None
    mean_s: float | None


@dataclass(frozen=True)
class StreamPoint:
    """A request of the light stream. `response_s`: None where it was not answered as expected."""

    at_s: float
    response_s: float | None


@dataclass(frozen=True)
class Explanation:
    """What was asked of a server, and what is said about it. Times in seconds.

    `server`: what the server calls itself. `limits`: as they were stated before. `pressure`: share of the
    time in which some thread of this machine waited for a core. `cores`: those that a server which jostle
    started may use. `family`: the discipline, where it is told."""

    target: str
    url: str
    server: str
    started_unix_ns: int
    seconds: float
    requests: int
    connections: int
    protocol: str
    limits: str
    cores: int | None
    pressure: float | None
    routes: list[RouteEntry]
    paragraph: str
    findings: list[Finding]
    bursts: list[SentBurst] = field(default_factory=list)
    interference: list[InterferenceCell] = field(default_factory=list)
    stream: list[StreamPoint] = field(default_factory=list)
    family: Family | None = None

    def finding(self, topic: Topic) -> Finding | None:
        """What was found about a topic."""
        return next((finding for finding in self.findings if finding.topic == topic), None)

    def as_json(self) -> dict[str, Any]:
        """Plain data, as docs/explanation.schema.json describes it."""
        return {"kind": "jostle explanation", "format": FORMAT, **asdict(self)}
