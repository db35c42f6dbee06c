"""One trial: its figures and their course."""

from dataclasses import dataclass, field
from typing import Any, Literal

from jostle.analysis.results.estimate import Estimate
from jostle.analysis.results.validity import Validity

__all__ = ["EarlierRun", "GeneratorStats", "Phase", "Timeline", "TrialResult"]


@dataclass(frozen=True)
class Phase:
    """A part of a trial with a load of its own; seconds from the trial's start."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Mark:
    """A moment of a trial that its pictures mark; seconds from the trial's start."""

    at_s: float
    kind: Literal["phase", "steered", "lost", "back"]  # lost: a generator, or the server's responses
    text: str


@dataclass(frozen=True)
class GeneratorStats:
    """What the generator recorded about itself, per interval of the timeline that contains it."""

    pacing_p99_s: list[float | None] = field(default_factory=list)  # intended start to when its code ran
    loop_lag_max_s: list[float] = field(default_factory=list)  # how late its own timers fired
    bytes_in_per_s: list[float] = field(default_factory=list)
    bytes_out_per_s: list[float] = field(default_factory=list)
    open_files: list[int] = field(default_factory=list)  # of the fullest process
    local_ports: list[int] = field(default_factory=list)  # of the fullest address, to one destination
    open_files_limit: int = 0
    local_ports_limit: int = 0


@dataclass(frozen=True)
class Timeline:
    """Per interval, from the start of the trial. Lists of equal length; None where it was not measured."""

    t_s: list[float]  # middle of the interval
    throughput_per_s: list[float]
    errors_per_s: list[float]
    p50_s: list[float | None]
    p99_s: list[float | None]
    max_s: list[float | None]
    clients: list[int | None]  # at the end of the interval; None at the end of the trial, when all leave
    in_flight: list[float]  # mean over the interval
    generator_cpu: list[float]  # busiest thread, share of one core
    server_t_s: list[float]  # own axis: vitals are taken at their own times
    server_cpu: list[float]  # cores in use by the whole process tree
    server_rss_bytes: list[float]
    phases: list[Phase] = field(default_factory=list)  # empty if the load is the same throughout
    generator: GeneratorStats = field(default_factory=GeneratorStats)
    marks: list[Mark] = field(default_factory=list)  # in order


@dataclass(frozen=True)
class TrialResult:
    """One workload on one contestant, once."""

    number: int
    contestant: str
    workload: str
    round: int
    status: Literal["ended", "failed", "cut short"]
    reason: str  # of a failure; "" otherwise
    validity: Validity
    duration_s: float
    throughput_per_s: float  # completed as expected
    offered_per_s: float | None  # open loop: due per second
    response: dict[str, Estimate]  # "p50", "p90", "p95", "p99", "p99.9", "max"
    service: dict[str, Estimate]
    outcomes: dict[str, int]  # by kind, without the zeros
    error_share: float
    background: dict[str, Any]  # of the background workload: requests, ok, service_mean_s, …; {} if none
    generator_cpu: float  # share of one core, busiest thread
    pacing_p99_s: float | None
    server_cpu_s_per_request: float | None
    server_rss_max_bytes: float | None
    trend: Literal["", "flat", "warm-up", "slowdown", "unsettled"]  # of the medians over time; "": too short
    timeline: Timeline
    server: dict[str, Any]  # label, versions, variants, cores
    requests: list[dict[str, Any]]  # per request name: name, outcomes, response quantiles
    received_bytes_per_s: float = 0.0  # heads and bodies of responses
    unavailable: float = 0.0  # share of the time in which the server was away
    connections_opened: int = 0
    connections_most: int = 0  # open at once, at the end of some interval
    datagrams: dict[str, int] = field(
        default_factory=dict
    )  # over UDP: sent, answered, lost, late, …; {} elsewhere


@dataclass(frozen=True)
class EarlierRun:
    """A run of the load before the measured one, on the same started server; over all rounds."""

    contestant: str
    workload: str
    run: int  # from 1
    throughput: Estimate
    response: dict[str, Estimate]
    error_share: float
