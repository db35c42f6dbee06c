"""An explanation as data: it is shown to users, written as JSON, and described by a schema."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from jostle.explain.discipline.burst import Burst
from jostle.explain.discipline.candidates import Family
from jostle.explain.finding import Finding, Topic

__all__ = ["FORMAT", "Explanation", "InterferenceCell", "RouteEntry", "SentBurst", "SentJob", "StreamPoint"]

FORMAT = 1


@dataclass(frozen=True)
class RouteEntry:
    """A route that was asked for. `service_s`: median service time of requests sent one at a time, None if
    no request was answered.
    """

    path: str
    role: str
    service_s: float | None


@dataclass(frozen=True)
class SentJob:
    """A request of a burst. `at_s`, `end_s`: when it was sent and answered, in seconds since the burst began;
    `end_s` is None if it was not answered as expected. `demand_s`: its service time, measured alone.
    """

    route: str
    connection: int
    demand_s: float
    at_s: float
    end_s: float | None


@dataclass(frozen=True)
class SentBurst:
    """A burst as it was sent. `probe`: the probe that sent it."""

    probe: str
    jobs: list[SentJob]

    @classmethod
    def of(cls, probe: str, routes: Sequence[str], burst: Burst) -> "SentBurst":
        """A burst with the names of its `routes`, one for each job."""
        jobs = zip(routes, burst.jobs, burst.ends, strict=True)
        return cls(probe, [SentJob(name, job.connection, job.demand, job.at, end) for name, job, end in jobs])


@dataclass(frozen=True)
class InterferenceCell:
    """Times of requests for `route` while `clients` clients ask back to back for `beside`, which is "" if no
    other requests are sent. `n`: how many were answered as expected. `error_s`: standard error of the mean.
    """

    route: str
    beside: str
    clients: int
    n: int
    median_s: float | None
    p90_s: float | None
    mean_s: float | None
    error_s: float | None = None


@dataclass(frozen=True)
class StreamPoint:
    """A request of the light stream. `at_s`: when it was due. `response_s`: None if it was not answered as
    expected.
    """

    at_s: float
    response_s: float | None
    route: str = ""


@dataclass(frozen=True)
class Explanation:
    """What was asked of a server, and what was found. Times are in seconds.

    `server`: what the server calls itself in its `Server` header. `limits`: the limits as they were announced
    beforehand. `pressure`: share of the time in which some thread of this machine waited for a core. `cores`:
    how many cores the server may use, if jostle started it. `paragraph`: what was found, what hurts first.
    `absent`: what was looked for and not found; `command`: what would tell more; `unknown`: what cannot be
    told; "" if there is nothing of the kind. `family`: the discipline, if it was identified.
    """

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
    absent: str = ""
    command: str = ""
    unknown: str = ""
    family: Family | None = None

    def finding(self, topic: Topic) -> Finding | None:
        """The finding about `topic`, if there is one."""
        return next((finding for finding in self.findings if finding.topic == topic), None)

    @property
    def day(self) -> str:
        """On which day it was made, as "2026-11-24"."""
        return f"{datetime.fromtimestamp(self.started_unix_ns / 1e9, UTC):%Y-%m-%d}"

    def as_json(self) -> dict[str, Any]:
        """The explanation as plain data; docs/explanation.schema.json describes the form."""
        return {"kind": "jostle explanation", "format": FORMAT, **asdict(self)}
