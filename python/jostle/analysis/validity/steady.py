"""Whether a trial shows one state of the server: a warm-up at its beginning, or no steady state at all."""

import math
from dataclasses import replace

import numpy as np

from jostle.analysis.results import Check
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import EMPTY, Bools, Floats, pool
from jostle.analysis.stats.steady_state import mser, warm_up_length
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.streaming import fold
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.formatting import amount, listed, percent
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict
from jostle.units import format_duration, format_number, format_rate

__all__ = ["CHANGE", "SLOWER", "change_of_logs", "steady_state", "warm_up"]

CHANGE = 0.05
"""Figures must change by more than this. MSER-5 finds "no steady state" in 2 % of steady series of 100
intervals (simulated)."""

SLOWER = 1.25
"""A beginning that is slower by less than this factor is no warm-up."""

LONG_ENOUGH = 30
"""With fewer intervals, stationary series are too often taken for something else."""

SHOWN = ("p50", "p90", "p99")
"""Quantiles that are given without the warm-up."""


def warm_up(data: TrialData) -> Check | None:
    """Suspect: figures that would differ without the slower beginning. None if there is no such beginning."""
    first = _slow_intervals(data)
    if not first:
        return None
    rest = np.arange(len(data.counts.end_ns)) >= first
    medians = np.array(data.responses.figure("p50")[:-1], dtype=float)
    slower = float(np.median(medians[:first]) / np.median(medians[first:]))
    whole_s = {name: quantile_estimate(data.response, NAMED[name]).value for name in SHOWN}
    rest_s = _times(data, rest)
    rate = float(data.counts.ok[rest].sum() / data.lengths_s[rest].sum())
    changed = [
        name
        for name in SHOWN
        if (without := rest_s[name]) and abs((whole_s[name] or math.inf) / without - 1) > CHANGE
    ]
    faster = data.closed is not None and rate > (1 + CHANGE) * data.throughput
    if slower < SLOWER or not (changed or faster):
        return None
    length_s = float(data.counts.end_ns[first - 1]) / 1e9
    told = [*([format_rate(rate)] if data.closed is not None else [])]
    told += [f"{name} {amount(rest_s[name], 's')}" for name in changed or SHOWN if rest_s[name] is not None]
    times = format_number(round(slower, 1))
    message = (
        f"warm-up: the first {format_duration(length_s)} were {times} times slower, "
        f"without them {listed(told)}"
    )
    affects = (*(RATES if faster else ()), *changed, *(f"service {name}" for name in changed))
    remedy = f"leave it out: --warm-up {math.ceil(length_s)}s (warm-up in a plan)"
    return Check("warm-up", Verdict.SUSPECT, slower, SLOWER, "times", message, remedy, affects)


def _slow_intervals(data: TrialData) -> int:
    """How many intervals at the beginning are those of a warm-up; 0 if none, or if that cannot be known."""
    if not data.steady_load or data.has_background or data.outages:
        return 0
    medians = data.responses.figure("p50")[:-1]
    if len(medians) < LONG_ENOUGH or None in medians:
        return 0
    return warm_up_length(np.array(medians, dtype=float))


def _times(data: TrialData, rest: Bools) -> dict[str, float | None]:
    """The quantiles of the rest of the trial; what failed meanwhile is longer than all."""
    (answered,) = fold(data.trial.interval_histograms("response"), [rest]).parts
    failed = int(data.counts.failed[rest].sum())
    sample = pool([answered, replace(EMPTY, never=failed)])
    return {name: quantile_estimate(sample, NAMED[name]).value for name in SHOWN}


def steady_state(data: TrialData) -> Check | None:
    """MSER-5 on throughput and on log p99, if the load is meant to be steady and the run is long.

    An outage and a warm-up are told as what they are.
    """
    if not data.settles or data.outages or warm_up(data) is not None:
        return None
    throughput, p99 = data.throughputs[:-1], data.responses.figure("p99 to settle")[:-1]
    changes: dict[tuple[str, ...], float] = {} if mser(throughput).settled else {RATES: _change(throughput)}
    if all(p99):
        logs = np.log(np.array(p99, dtype=float))
        changes |= {} if mser(logs).settled else {TIMES: change_of_logs(logs)}
    change = max(changes.values(), default=0.0)
    if change <= CHANGE:
        return Check("steady state", Verdict.VALID, change, CHANGE, "share", "the run settled")
    message = f"no steady state: the second half differs from the first by {percent(change)}"
    remedy = "let it run longer, or give it a warm-up"
    affects = tuple(figure for group, c in changes.items() if c > CHANGE for figure in group)
    return Check("steady state", Verdict.SUSPECT, change, CHANGE, "share", message, remedy, affects)


def _change(series: Floats) -> float:
    half = len(series) // 2
    first, second = float(series[:half].mean()), float(series[half:].mean())
    return abs(second - first) / abs(first) if first else math.inf


def change_of_logs(series: Floats) -> float:
    """The same for a series of logarithms, in terms of the values themselves, whatever their unit."""
    half = len(series) // 2
    return abs(math.expm1(float(series[half:].mean()) - float(series[:half].mean())))
