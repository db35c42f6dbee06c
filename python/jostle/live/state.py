"""What is known of a trial so far: all that a terminal, a page or a last frame shows of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jostle.analysis.results import Estimate, Mark, Validity
from jostle.live.column import Column
from jostle.live.parts import Parts
from jostle.record.layout import SteeredEntry

__all__ = ["Cpu", "Rates", "TrialState", "Usage"]


@dataclass(frozen=True)
class Rates:
    """Requests per second."""

    offered_per_s: float | None
    """That were due; None in a closed loop, where a request is due when its client is free."""
    sent_per_s: float
    answered_per_s: float
    """As expected."""


@dataclass(frozen=True)
class Cpu:
    """Cores in use during the last second; None: it is not watched."""

    server: float | None
    database: float | None
    machine: float | None
    """By anybody, of those cores that the run uses."""
    generator: float
    """By its busiest thread, in the last interval."""
    cores: int
    """How many the run uses; 0 if that is not known."""


@dataclass(frozen=True)
class Usage:
    """Cores in use over time: the middle of each step between two samples, and how many in it."""

    times_s: Sequence[float]
    cores: Sequence[float]


@dataclass(frozen=True, eq=False)
class TrialState:
    """One trial, of whose load `over_s` seconds are over. Times are in seconds, as in reports."""

    over_s: float
    planned_s: float | None
    """None if it ends after a number of requests."""
    rates: Rates
    """In the last interval."""
    rates_so_far: Rates
    """Like all that is of the whole trial so far, a few seconds old at most until the trial is over."""
    in_flight: int
    """Requests that were sent and have no response yet."""
    not_sent: int
    """Requests that are due, and could not be sent yet."""
    times: Mapping[str, Estimate]
    """Response times so far: the quantiles that tables show, and "max"."""
    latest: Mapping[str, float | None]
    """p50, p99 and "max" of the right responses in the last interval."""
    late_s: float | None
    """The p99 of the generator's lateness so far; None if it paces nothing."""
    outcomes: Mapping[str, int]
    cpu: Cpu
    columns: Sequence[Column]
    each: int
    """Intervals of a column; the last one may still lack some."""
    overloaded: bool
    """Whether requests of an open loop pile up so far."""
    steered: Sequence[SteeredEntry]
    """How the load was changed while it ran, in order."""
    marks: Sequence[Mark]
    """Moments that its pictures mark, in order, up to a second old."""
    validity: Validity
    """What can be judged so far."""
    parts: Parts
    """Each request or step, journey, stream and generator by itself."""
