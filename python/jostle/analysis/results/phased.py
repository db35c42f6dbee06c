"""Loads with phases: ramp-up, sustain, ramp-down."""

from dataclasses import dataclass

from jostle.analysis.results.estimate import Estimate
from jostle.analysis.results.trial import Phase
from jostle.analysis.results.workload import Times

__all__ = ["PhaseSummary", "PhasedLoad", "PhasedTimeline", "RampStep"]


@dataclass(frozen=True)
class PhaseSummary:
    """How one phase of a load went on one contestant, over all rounds; the last one is the whole load."""

    name: str
    length_s: float
    open_most: int  # connections at once
    open_mean: float
    throughput_per_s: float
    error_share: float
    connect: Times  # to open a connection
    headers: Times  # from the send to the end of the response's headers
    body: Times  # from there to the last byte
    to_server_per_s: float  # bytes
    from_server_per_s: float
    server_cpu: float | None  # cores in use
    generator_cpu: float


@dataclass(frozen=True)
class RampStep:
    """A tenth of one trial's ramp-up; times from the send to the end of the response's headers."""

    end_s: float
    open: int  # connections at once, the most
    throughput_per_s: float
    headers_mean_s: float | None
    headers_deviation_s: float | None
    headers_p95_s: float | None
    server_cpu: float | None  # cores in use


@dataclass(frozen=True)
class PhasedTimeline:
    """One trial over time, per interval as in `Timeline`."""

    trial: int
    t_s: list[float]
    clients: list[int | None]  # that should be present
    open: list[int | None]  # connections
    throughput_per_s: list[float]
    connect_mean_s: list[float | None]
    connect_p99_s: list[float | None]
    headers_mean_s: list[float | None]
    headers_p99_s: list[float | None]
    body_mean_s: list[float | None]
    body_p99_s: list[float | None]
    to_server_per_s: list[float]  # bytes
    from_server_per_s: list[float]
    generator_cpu: list[float]  # cores in use by all threads
    server_t_s: list[float]  # own axis
    server_cpu: list[float]
    phases: list[Phase]


@dataclass(frozen=True)
class PhasedLoad:
    """A load with phases on one contestant: whether it held all clients, and how each phase went."""

    contestant: str
    workload: str
    title: str
    asked: int | None  # the most clients at any time; None in an open loop
    open_most: Estimate  # connections at once
    held: Estimate  # share of the planned clients, while all of them should be present
    reached: bool | None  # whether nearly all of them were open at once in every round
    refused: str  # when the first connection was refused or lost; "": none was
    phases: list[PhaseSummary]
    timeline: PhasedTimeline  # of the round with the median throughput
    ramp: list[RampStep]  # of the same round; empty without a ramp-up
