"""What a crowd of connections costs a server, and what its members see while their number grows.

Of loads with phases (`jostle.analysis.topics.phased`); quantities of one trial.
"""

import itertools
from collections.abc import Callable

import numpy as np

from jostle.analysis.results import Phase
from jostle.analysis.stats.sample import Floats, WeightedSample, pool
from jostle.analysis.topics.phased import sustained
from jostle.analysis.trial.counters import MEASURED
from jostle.analysis.trial.data import TrialData
from jostle.analysis.trial.summary import rss_max

__all__ = [
    "STEPS",
    "bytes_per_answer",
    "bytes_per_request",
    "growth",
    "memory_per_connection",
    "server_cores",
    "time_to_connect",
]

STEPS = 10
"""The ramp is looked at in so many steps of equal length."""


def time_to_connect(data: TrialData) -> float | None:
    """Mean time to open a connection while all clients are to be there, in seconds."""
    return _pooled(data, "connect").mean_s


def server_cores(data: TrialData) -> float | None:
    """Cores that the server's process tree used: while all clients are to be there, or all the time."""
    phases = sustained(data) or [Phase("", 0.0, data.duration_s)]
    used = [data.vitals.cores(round(p.start_s * 1e9), round(p.end_s * 1e9)) for p in phases]
    known = [cores for cores in used if cores is not None]
    return float(np.mean(known)) if known else None


def memory_per_connection(data: TrialData) -> float | None:
    """The most memory that the server held, less what it held before, in bytes per connection."""
    sample = data.trial.description.get("before")
    before = sample["rss_bytes"] if sample else None
    held, most = rss_max(data), int(data.counts.connections.max(initial=0))
    if before is None or held is None or not most:
        return None
    return max(0.0, held - before) / most


def bytes_per_request(data: TrialData) -> float | None:
    """Bytes that clients sent, heads and all, for each answer; without TCP and IP."""
    return _per_answer(data, data.counts.bytes_out.sum())


def bytes_per_answer(data: TrialData) -> float | None:
    """Bytes that the server sent for each answer, heads and all; without TCP and IP."""
    return _per_answer(data, data.counts.bytes_in.sum())


def growth(figure: str) -> Callable[[TrialData], float | None]:
    """By how much a figure of the time to headers ("mean", "deviation") grew at once during the ramp-up.

    The largest ratio of a step of the ramp to the step before: about 1 where the figure stays or creeps,
    several where it jumps. None where there is no ramp, or a step without an answer.
    """

    def largest(data: TrialData) -> float | None:
        steps = _steps(data, figure)
        if len(steps) < 2 or not np.all(steps > 0):
            return None
        return float(np.max(steps[1:] / steps[:-1]))

    return largest


def _steps(data: TrialData, figure: str) -> Floats:
    """The figure in each step of the ramp-up: the mean of its intervals, by their answers."""
    ramp = next((phase for phase in data.phases if phase.name == "ramp-up"), None)
    if ramp is None:
        return np.zeros(0)
    values = np.array([np.nan if v is None else v for v in data.parts["headers"].figure(figure)])
    weights = np.where(np.isnan(values), 0, data.counts.ok)
    edges = np.linspace(ramp.start_s, ramp.end_s, STEPS + 1)
    found = []
    for start_s, end_s in itertools.pairwise(edges.tolist()):
        there = data.within([Phase("", start_s, end_s)]) & (weights > 0)
        found.append(float(np.average(values[there], weights=weights[there])) if there.any() else np.nan)
    return np.array(found)


def _per_answer(data: TrialData, total: float) -> float | None:
    return float(total) / data.ok(MEASURED) if data.ok(MEASURED) else None


def _pooled(data: TrialData, part: str) -> WeightedSample:
    return pool([data.part_within(part, phase) for phase in sustained(data)])
