"""What clients get if they do not wait for ever, and the part that the database has in it.

For every workload in which requests timed out or the server had a database. Hits, timeouts and the least and
most hits in a second are as the load generators of the articles' time print them. Beside them are figures
that can be compared: responses within the timeout, counted from when they were due, and how even the
throughput was.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.analysis.results import Estimate, Goodput
from jostle.analysis.stats.over_rounds import mean_over_rounds, typical_over_rounds
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.resource_usage import ResourceUsage
from jostle.record.outcomes import TIMEOUTS

if TYPE_CHECKING:
    from jostle.analysis.results.keys import Key

__all__ = ["database_cpu_per_request", "dispersion", "goodput", "goodputs"]

CHOICES = ("delay_ms", "pool", "index", "customers")
"""The settings of a database that decide how servers rank; they are recorded with every trial."""

ALMOST_S = 1e-3
"""Tolerance: intervals end a little before or after the second."""


def goodputs(grouped: "Mapping[Key, Sequence[TrialData]]") -> list[Goodput]:
    """One result for each cell that has timeouts or a database."""
    found = []
    for (contestant, workload), trials in grouped.items():
        measured = [f for f in trials if f.usable]
        if any(timeouts(f) or _database(f) for f in measured):
            found.append(_of_cell(contestant, workload, measured))
    return found


def _of_cell(contestant: str, workload: str, trials: Sequence[TrialData]) -> Goodput:
    database = _database(trials[0])
    seconds = [_whole_seconds(f) for f in trials]
    return Goodput(
        contestant=contestant,
        workload=workload,
        timeout_s=_timeout_s(trials[0]),
        database={key: database[key] for key in CHOICES if key in database} if database else {},
        hits=_mean((float(f.ok()) for f in trials), ""),
        timeouts=_mean((float(timeouts(f)) for f in trials), ""),
        least_per_s=_mean((min(s) for s in seconds if s), "/s"),
        most_per_s=_mean((max(s) for s in seconds if s), "/s"),
        goodput=typical_over_rounds([goodput(f) for f in trials], "/s"),
        dispersion=_mean((d for f in trials if (d := dispersion(f)) is not None), "ratio"),
        database_cpu_s_per_request=typical_over_rounds(
            [cpu for f in trials if (cpu := database_cpu_per_request(f)) is not None], "s"
        ),
    )


def goodput(data: TrialData) -> float:
    """Responses within the timeout, counted from when they were due, per second."""
    limit_s = _timeout_s(data)
    if not data.ok():
        return 0.0
    answered = data.response.only_events()
    in_time = data.ok() if limit_s is None else int(answered.events[answered.middles_s <= limit_s].sum())
    return data.throughput * in_time / data.ok()


def timeouts(data: TrialData) -> int:
    """Number of requests that were given up because of a timeout."""
    return sum(data.outcomes().get(kind, 0) for kind in TIMEOUTS)


def database_cpu_per_request(data: TrialData) -> float | None:
    """CPU time of the private database per success, in seconds; None if none was watched."""
    return ResourceUsage.of(data.trial.database_usage()).cpu_s_per(data.ok())


def dispersion(data: TrialData) -> float | None:
    """Standard deviation over mean of the successes per second."""
    rates = np.array(_whole_seconds(data))
    mean = float(rates.mean()) if len(rates) else 0.0
    return float(np.std(rates, ddof=1)) / mean if len(rates) > 1 and mean else None


def _whole_seconds(data: TrialData) -> list[float]:
    """Successes in each second of the trial; an incomplete last one is left out."""
    counts = [0.0] * int(data.duration_s + ALMOST_S)
    starts_s = data.counts.start_ns / 1e9
    for start_s, rate, length_s in zip(starts_s, data.throughputs, data.lengths_s, strict=True):
        second = int(start_s + ALMOST_S)
        if second < len(counts):
            counts[second] += float(rate * length_s)
    return counts


def _timeout_s(data: TrialData) -> float | None:
    total_ns = (data.workload().get("timeouts") or {}).get("total_ns")
    return None if total_ns is None else float(total_ns) / 1e9


def _database(data: TrialData) -> Mapping[str, Any]:
    """The settings of the server's database; empty if it had none."""
    return data.trial.server.get("database") or {}


def _mean(values: Iterable[float], unit: str) -> Estimate:
    return mean_over_rounds(list(values), unit)
