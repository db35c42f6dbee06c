"""How each quantity of `jostle.plan.metrics` is measured: one value per trial, an interval over rounds.

A function of one trial gives a float, `AtLeast` where requests that were given up hide the rest, or None
where the trial cannot say. To add a quantity: its name and unit there, its function in `MEASURES` here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import betaincinv, stdtrit

from jostle.analysis.results import Estimate
from jostle.analysis.stats.bootstrap import ONE_ROUND, mean_over_rounds
from jostle.analysis.stats.kaplan_meier import product_limit
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sample import WeightedSample
from jostle.analysis.topics.goodput import database_cpu_per_request, dispersion, goodput
from jostle.analysis.topics.phased import clients_held, sustained_throughput, time_to_headers
from jostle.analysis.topics.threads import memory_per_thread, time_per_thread
from jostle.analysis.trial.data import TrialData
from jostle.analysis.trial.summary import cpu_per_request, rss_max
from jostle.plan.metrics import METRICS

__all__ = ["MEASURES", "AtLeast", "Value", "error_share", "estimate", "ratio"]


@dataclass(frozen=True)
class AtLeast:
    """The value is this or more."""

    value: float


Value = float | AtLeast | None

LEVELS = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}
LEVELS["p99.9"] = 0.999


def _quantile(sample: WeightedSample, p: float) -> Value:
    """None where too few requests lie beyond it."""
    if sample.n * min(p, 1 - p) < 1:
        return None
    value = product_limit(sample).quantile(p)
    return AtLeast(float(sample.values_s[-1])) if value is None else value


def _largest(sample: WeightedSample) -> Value:
    if not sample.n:
        return None
    largest = float(sample.values_s[-1])
    return largest if sample.events[-1] else AtLeast(largest)


def _smallest(sample: WeightedSample) -> Value:
    seen = sample.only_events()
    return float(seen.values_s[0]) if seen.n else None


def _between(sample: WeightedSample, lower: str, upper: str) -> Value:
    """(upper - lower)/median: by how many medians the response times between two quantiles differ."""
    low, middle, high = (_quantile(sample, LEVELS[q]) for q in (lower, "p50", upper))
    if not isinstance(low, float) or not isinstance(middle, float) or high is None or middle == 0:
        return None
    if isinstance(high, AtLeast):
        return AtLeast((high.value - low) / middle)
    return (high - low) / middle


OF_TIMES: Mapping[str, Callable[[WeightedSample], Value]] = {
    **{name: partial(_quantile, p=p) for name, p in LEVELS.items()},
    "min": _smallest,
    "max": _largest,
    "mean": lambda sample: sample.mean_s,
    "spread": lambda sample: _between(sample, "p5", "p95"),
    "quartile spread": lambda sample: _between(sample, "p25", "p75"),
}
"""Of response times; mean and min are of those that were answered."""

MEASURES: Mapping[str, Callable[[TrialData], Value]] = {
    "throughput": lambda data: data.throughput,
    "dispersion": dispersion,
    "goodput": goodput,
    "errors": lambda data: data.error_share,
    "memory": rss_max,
    "server cpu": cpu_per_request,
    "database cpu": database_cpu_per_request,
    "memory per thread": memory_per_thread,
    "time per thread": time_per_thread,
    "clients held": clients_held,
    "sustained throughput": sustained_throughput,
    "time to headers": time_to_headers,
    **{
        f"service {q}": lambda data, p=LEVELS[q]: _quantile(data.service, p)  # type: ignore[misc]
        for q in ("p50", "p90", "p99", "p99.9")
    },
    **{name: lambda data, of=of: of(data.response) for name, of in OF_TIMES.items()},  # type: ignore[misc]
}
"""Of one trial. The indices are of two, and stand in `jostle.analysis.topics.starvation`."""


def estimate(name: str, trials: Sequence[TrialData], confidence: float = CONFIDENCE) -> Estimate:
    """The mean over rounds of a quantity, with Student's interval."""
    unit = METRICS[name]
    if name == "errors":
        return error_share(trials, confidence)
    values = [MEASURES[name](data) for data in trials]
    if not values or any(value is None for value in values):
        return Estimate(None, unit=unit, n=len(values), note=_why_not(values))
    found = mean_over_rounds([_number(value) for value in values], unit, confidence)
    if unit == "share" and found.high is not None:
        found = replace(found, high=min(1.0, found.high))
    return _bounded(found, values)


def ratio(left: Sequence[Value], right: Sequence[Value], confidence: float = CONFIDENCE) -> Estimate:
    """left/right round by round: the geometric mean, with Student's interval of the logarithm.

    Both in the same order of rounds. What goes to nought in a round has no logarithm: then None.
    """
    n = len(left)
    if n == 0:
        return Estimate(None, unit="", note="there is no round in which both were measured")
    if any(v is None for v in (*left, *right)) or any(isinstance(v, AtLeast) for v in right):
        return Estimate(None, unit="", n=n, note=_why_not([*left, *right]))
    pairs = [(_number(a), _number(b)) for a, b in zip(left, right, strict=True)]
    if any(a <= 0 or b <= 0 for a, b in pairs):
        return Estimate(None, unit="", n=n, note="it is nought in a round")
    logs = [math.log(a / b) for a, b in pairs]
    middle = math.fsum(logs) / n
    if n == 1:
        return Estimate(math.exp(middle), unit="", n=1, note=ONE_ROUND)
    half = float(stdtrit(n - 1, (1 + confidence) / 2)) * float(np.std(logs, ddof=1)) / math.sqrt(n)
    found = Estimate(math.exp(middle), math.exp(middle - half), math.exp(middle + half), unit="", n=n)
    return _bounded(found, left)


def _number(value: Value) -> float:
    assert value is not None
    return value.value if isinstance(value, AtLeast) else float(value)


def _bounded(found: Estimate, values: Sequence[Value]) -> Estimate:
    if not any(isinstance(value, AtLeast) for value in values):
        return found
    return replace(found, high=None, bound="≥", note="requests were given up before they were answered")


def _why_not(values: Sequence[Value]) -> str:
    if not values:
        return "nothing was measured"
    missing = sum(value is None for value in values)
    if not missing:
        return "requests were given up before they were answered"
    return f"{missing} of {len(values)} rounds have too few requests to tell, or did not measure it"


def error_share(trials: Sequence[TrialData], confidence: float = CONFIDENCE) -> Estimate:
    """Failed requests among those that ended; of intervals over requests and over rounds, the wider one.

    Source of the first: Clopper and Pearson, Biometrika 26 (1934). That none failed proves little.
    """
    failed = [sum(f.errors.values()) for f in trials]
    ended = [n + f.ok() for n, f in zip(failed, trials, strict=True)]
    k, n = sum(failed), sum(ended)
    if n == 0:
        return Estimate(None, unit="share", note="no request came to an end")
    tail = (1 - confidence) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    rounds = mean_over_rounds([f / e for f, e in zip(failed, ended, strict=True) if e], "share", confidence)
    if rounds.low is not None and rounds.high is not None:
        low, high = min(low, rounds.low), min(1.0, max(high, rounds.high))
    return Estimate(k / n, low, high, "share", n=n)
