"""How each of `jostle.plan.criteria.metrics` is measured: one value per trial, an interval over rounds.

A function of one trial returns a float, `AtLeast` if requests that were given up hide the rest, or None if
the trial has no value. To add a metric, put its name and unit there, and its function in `VALUE_OF` here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from jostle.analysis.results import Estimate
from jostle.analysis.stats.enough import MIN_ROUNDS, TOO_FEW_ROUNDS
from jostle.analysis.stats.moderated import UsualOf, not_known, spread_of
from jostle.analysis.stats.over_rounds import (
    AtLeast,
    RoundValue,
    bounded,
    mean_over_rounds,
    number,
    round_mean,
    round_quantile,
    typical_over_rounds,
    why_not,
    within_rounds,
)
from jostle.analysis.stats.proportion import share_over_rounds
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sample import WeightedSample
from jostle.analysis.summaries.disturbed import undisturbed
from jostle.analysis.summaries.quantiles import quantile
from jostle.analysis.summaries.trial import cpu_per_request, rss_max
from jostle.analysis.topics.growing_load import crowd
from jostle.analysis.topics.growing_load.phased import clients_held, sustained_throughput
from jostle.analysis.topics.preceding_runs import change_from_run_before
from jostle.analysis.topics.protocols.pings import ping_times
from jostle.analysis.topics.protocols.streams import (
    longest_gap,
    message_round_trips,
    streams_in_time,
    streams_late,
)
from jostle.analysis.topics.requests.goodput import database_cpu_per_request, dispersion, goodput
from jostle.analysis.topics.requests.journeys import active
from jostle.analysis.topics.server.garbage import garbage_collection
from jostle.analysis.topics.server.threads import (
    memory_per_thread,
    time_per_thread,
    virtual_memory_per_thread,
)
from jostle.analysis.topics.starvation.meanwhile import left_over_rounds, throughput_left
from jostle.analysis.trials.data import TrialData
from jostle.plan.criteria.metrics import LESS_FREQUENT, METRICS
from jostle.quantiles import LEVELS, NAMED

__all__ = ["COUNTED", "VALUE_OF", "error_share", "estimate", "within"]


def _largest(sample: WeightedSample) -> RoundValue:
    if not len(sample.values_s):
        return None
    largest = float(sample.values_s[-1])
    return largest if sample.events[-1] and not sample.never else AtLeast(largest)


def _smallest(sample: WeightedSample) -> RoundValue:
    seen = sample.only_events()
    return float(seen.values_s[0]) if seen.n else None


def _between(sample: WeightedSample, lower: str, upper: str) -> RoundValue:
    """(upper - lower)/median: how far apart two quantiles of the response times are, in medians."""
    low, middle, high = (round_quantile(sample, NAMED[q]) for q in (lower, "p50", upper))
    if not isinstance(low, float) or not isinstance(middle, float) or high is None or middle == 0:
        return None
    if isinstance(high, AtLeast):
        return AtLeast((high.value - low) / middle)
    return (high - low) / middle


def _quantile(sample: WeightedSample | None, p: float) -> RoundValue:
    return None if sample is None else round_quantile(sample, p)


TIME_METRICS: Mapping[str, Callable[[WeightedSample], RoundValue]] = {
    **{name: partial(round_quantile, p=p) for name, p in NAMED.items()},
    "min": _smallest,
    "max": _largest,
    "mean": round_mean,
    "spread": lambda sample: _between(sample, "p5", "p95"),
    "quartile spread": lambda sample: _between(sample, "p25", "p75"),
}
"""Of response times; `min` is of answered requests, `mean` a lower bound if the longest were not answered."""

VALUE_OF: Mapping[str, Callable[[TrialData], RoundValue]] = {
    "throughput": lambda data: data.throughput,
    "dispersion": dispersion,
    "goodput": goodput,
    "errors": lambda data: data.failing_time_share,
    "unavailable": lambda data: data.unavailable,
    "memory": rss_max,
    "server cpu": cpu_per_request,
    "database cpu": database_cpu_per_request,
    "memory per thread": memory_per_thread,
    "virtual memory per thread": virtual_memory_per_thread,
    "time per thread": time_per_thread,
    "clients held": clients_held,
    "sustained throughput": sustained_throughput,
    "time to headers": crowd.time_to_headers,
    "time to connect": crowd.time_to_connect,
    "time to read body": crowd.time_to_read_body,
    "growth of headers": crowd.growth(lambda step: step.headers_mean_s),
    "growth of their deviation": crowd.growth(lambda step: step.headers_deviation_s),
    "clients in time": crowd.clients_in_time,
    "server cores": crowd.server_cores,
    "memory per connection": crowd.memory_per_connection,
    "bytes per request": crowd.bytes_per_request,
    "bytes per response": crowd.bytes_per_response,
    "garbage collection": garbage_collection,
    "streams in time": streams_in_time,
    "longest gap": longest_gap,
    "change from run before": change_from_run_before,
    "throughput left": throughput_left,
    **{
        f"service {q}": lambda data, p=NAMED[q]: round_quantile(data.service, p)  # type: ignore[misc]
        for q in LEVELS
    },
    **{
        f"journey {q}": lambda data, p=NAMED[q]: round_quantile(active(data), p)  # type: ignore[misc]
        for q in LESS_FREQUENT
    },
    **{
        f"round trip {q}": lambda data, p=NAMED[q]: _quantile(message_round_trips(data), p)  # type: ignore[misc]
        for q in LESS_FREQUENT
    },
    **{
        f"ping {q}": lambda data, p=NAMED[q]: _quantile(ping_times(data), p)  # type: ignore[misc]
        for q in LESS_FREQUENT
    },
    **{name: lambda data, of=of: of(data.response) for name, of in TIME_METRICS.items()},  # type: ignore[misc]
}
"""Metrics of one trial. Indices compare two trials: see `jostle.analysis.topics.starvation.indices`."""


def estimate(
    name: str, trials: Sequence[TrialData], confidence: float = CONFIDENCE, usual: UsualOf = not_known
) -> Estimate:
    """A metric over rounds with Student's interval: that of a typical start, or the mean of shares.

    `usual`: the spread that rounds usually have.
    """
    unit = METRICS[name]
    if name in COUNTED:
        return COUNTED[name](trials, confidence)
    service, _, level = name.rpartition(" ")
    if level in NAMED and service in ("", "service"):
        return quantile(trials, NAMED[level], confidence, service=bool(service), usual=usual(name))
    if name == "throughput left":
        return left_over_rounds(trials, confidence)
    values = [VALUE_OF[name](data) for data in trials]
    if not values or any(value is None for value in values):
        return Estimate(None, unit=unit, n=len(values), note=why_not(values))
    if unit != "share":
        found = typical_over_rounds(values, unit, confidence, spread_of(usual(name)))
        found = undisturbed(name, found, trials)
    else:
        found = mean_over_rounds([number(value) for value in values], unit, confidence)
        found = bounded(found if found.high is None else replace(found, high=min(1.0, found.high)), values)
    if len(found.rounds) >= MIN_ROUNDS and not any(found.rounds):
        return replace(found, low=0.0, high=found.high if found.bound else 0.0)
    return found


def within(name: str, trials: Sequence[TrialData]) -> float:
    """The variance of a quantile's logarithm in a round that its few requests explain; 0 of other metrics."""
    service, _, level = name.rpartition(" ")
    if level not in NAMED or service not in ("", "service"):
        return 0.0
    return within_rounds([data.service if service else data.response for data in trials], NAMED[level])


def _streams_in_time(trials: Sequence[TrialData], confidence: float) -> Estimate:
    """1 minus the share of streams that were late, which are counted like failed requests.

    One stall makes many streams late, so an interval needs rounds.
    """
    values = [streams_in_time(data) for data in trials]
    if not values or any(value is None for value in values):
        return Estimate(None, unit="share", n=len(values), note=why_not(values))
    late, ended = zip(*map(streams_late, trials), strict=True)
    rounds = tuple(map(number, values))
    found = Estimate(1 - sum(late) / sum(ended), unit="share", n=sum(ended), rounds=rounds)
    if len(trials) < MIN_ROUNDS:
        return replace(found, note=TOO_FEW_ROUNDS)
    low, high = share_over_rounds(late, ended, confidence)
    return replace(found, low=1 - high, high=1 - low)


def error_share(trials: Sequence[TrialData], confidence: float = CONFIDENCE) -> Estimate:
    """Share of failed requests among those that ended, or of a closed loop's time spent failing if more.

    The interval spans those over requests and over rounds.
    """
    pairs = [(data.failing, data.ended) for data in trials if data.ended]
    k, n = sum(failed for failed, _ in pairs), sum(ended for _, ended in pairs)
    if n == 0:
        note = "no request came to an end" if trials else "nothing was measured"
        return Estimate(None, unit="share", note=note)
    low, high = share_over_rounds([f for f, _ in pairs], [e for _, e in pairs], confidence)
    shares = tuple(f / e for f, e in pairs)
    return Estimate(k / n, low, high, "share", n=n, rounds=shares)


def _unavailable(trials: Sequence[TrialData], confidence: float) -> Estimate:
    """The share of the time; of fewer rounds than have an interval, what happened in them is all there is.

    Its interval reaches down to what is sure: clients that pause after failures notice late that a server is
    back.
    """
    rounds = tuple(data.unavailable for data in trials)
    whole_s = sum(data.duration_s for data in trials)
    if not whole_s:
        return Estimate(None, unit="share", note="nothing was measured")
    share = sum(data.unavailable * data.duration_s for data in trials) / whole_s
    least = [data.unavailable_at_least * data.duration_s for data in trials]
    found = mean_over_rounds(rounds, "share", confidence)
    if found.low is not None and found.high is not None:
        low = max(0.0, found.low - share + sum(least) / whole_s)
        return replace(found, value=share, low=min(low, share), high=min(1.0, found.high))
    surely = [away_s / data.duration_s for away_s, data in zip(least, trials, strict=True)]
    return Estimate(share, min(surely), max(rounds), "share", n=len(rounds), rounds=rounds)


COUNTED: Mapping[str, Callable[[Sequence[TrialData], float], Estimate]] = {
    "errors": error_share,
    "streams in time": _streams_in_time,
    "unavailable": _unavailable,
}
"""Shares whose intervals depend on how many requests or streams there were, and not on the rounds alone."""
