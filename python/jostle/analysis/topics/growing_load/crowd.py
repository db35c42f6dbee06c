"""What many connections cost a server, and what the clients see while their number grows.

Metrics of one trial whose load has phases (`jostle.analysis.topics.growing_load.phased`).
"""

import itertools
from collections.abc import Callable

import numpy as np

from jostle.analysis.results import Phase, RampStep
from jostle.analysis.stats.over_rounds import AtLeast, RoundValue
from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.analysis.summaries.trial import rss_max
from jostle.analysis.topics.growing_load.phased import sustained
from jostle.analysis.topics.growing_load.ramp import ramp_steps
from jostle.analysis.trials.counters import MEASURED
from jostle.analysis.trials.data import TrialData

__all__ = [
    "IN_TIME_S",
    "bytes_per_request",
    "bytes_per_response",
    "clients_in_time",
    "growth",
    "memory_per_connection",
    "server_cores",
    "time_to_connect",
    "time_to_headers",
    "time_to_read_body",
]

IN_TIME_S = 0.120
"""Longest time to headers that is in time; the experiment's route takes 90 to 110 ms by itself."""


def time_to_connect(data: TrialData) -> float | None:
    """Mean time to open a connection while all clients should be present, in seconds."""
    return _pooled(data, "connect").mean_s


def time_to_headers(data: TrialData) -> float | None:
    """Mean time (s) of answered requests from the send to the end of the headers, in the same phases."""
    return _pooled(data, "headers").mean_s


def time_to_read_body(data: TrialData) -> float | None:
    """Mean time from the end of the headers to that of the body, in the same phases; at least 1 µs each."""
    return _pooled(data, "body").mean_s


def server_cores(data: TrialData) -> float | None:
    """Cores that the server's process tree used while all clients should be present, else all the time."""
    phases = sustained(data) or [Phase("", 0.0, data.duration_s)]
    used = [data.resource_usage.cores(round(p.start_s * 1e9), round(p.end_s * 1e9)) for p in phases]
    known = [cores for cores in used if cores is not None]
    return float(np.mean(known)) if known else None


def memory_per_connection(data: TrialData) -> float | None:
    """The most memory that the server held, less what it held before, in bytes per connection."""
    sample = data.trial.description.get("before")
    before = sample["rss_bytes"] if sample else None
    held, connections = rss_max(data), int(data.counts.connections.max(initial=0))
    if before is None or held is None or not connections:
        return None
    return max(0.0, held - before) / connections


def bytes_per_request(data: TrialData) -> float | None:
    """Bytes that clients sent for each response, including heads but not TCP and IP."""
    return _per_response(data, data.counts.bytes_out.sum())


def bytes_per_response(data: TrialData) -> float | None:
    """Bytes that the server sent for each response, including heads but not TCP and IP."""
    return _per_response(data, data.counts.bytes_in.sum())


def growth(figure: Callable[[RampStep], float | None]) -> Callable[[TrialData], float | None]:
    """How abruptly a figure of the time to headers grew during the ramp-up.

    The largest ratio of a step of the ramp to the previous step: about 1 if the figure stays or creeps,
    several if it jumps. None if there is no ramp, or if a step has too few responses for the figure.
    """

    def largest(data: TrialData) -> float | None:
        values = [figure(step) for step in ramp_steps(data)]
        known = [value for value in values if value]
        if len(known) < len(values) or not known:
            return None
        return max(after / before for before, after in itertools.pairwise(known))

    return largest


def clients_in_time(data: TrialData) -> RoundValue:
    """Connections open in the last step of the ramp-up before the p95 of headers exceeds `IN_TIME_S`.

    A lower bound if it never does. None if there is no ramp, or if the first step is already too slow.
    """
    held = 0
    for step in (steps := ramp_steps(data)):
        if step.headers_p95_s is None or step.headers_p95_s > IN_TIME_S:
            return float(held) if held else None
        held = step.open
    return AtLeast(float(held)) if steps else None


def _per_response(data: TrialData, total: float) -> float | None:
    return float(total) / data.ok(MEASURED) if data.ok(MEASURED) else None


def _pooled(data: TrialData, part: str) -> WeightedSample:
    return pool([data.part_within(part, phase) for phase in sustained(data)])
