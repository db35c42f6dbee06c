"""Whether a trial shows one state of the server: a warm-up at its beginning, or no steady state at all."""

import math
from dataclasses import replace

import numpy as np

from jostle.analysis.results import Check
from jostle.analysis.stats.quantile_ci import quantile_estimate
from jostle.analysis.stats.sample import EMPTY, Bools, Floats, pool
from jostle.analysis.stats.steady_state import mser, trend, warm_up_length
from jostle.analysis.trials.data import TrialData
from jostle.analysis.trials.streaming import fold
from jostle.analysis.validity.figures import RATES, TIMES
from jostle.formatting import amount, listed, percent
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict
from jostle.units import format_duration, format_number, format_rate

__all__ = ["CHANGE", "LONG_ENOUGH", "SLOWER", "change_of_logs", "settled"]

CHANGE = 0.05
"""Figures must change by more than this. MSER-5 finds "no steady state" in 2 % of steady series of 100
intervals (simulated)."""

SLOWER = 1.25
"""A beginning that is slower by less than this factor is no warm-up."""

LONG_ENOUGH = 15
"""With fewer intervals nothing is said. Of 15, series of correlated neighbours (0.8; sd 20 %) are taken for a
warm-up in 3 % and for unsettled in 1 % (simulated), no more often than of 45."""

SHOWN = ("p50", "p90", "p99")
"""Quantiles that are given without the warm-up."""


def settled(data: TrialData) -> Check | None:
    """Whether the figures are those of one state: a warm-up is told as that, and not also as unsettled."""
    return _warm_up(data) or _steady_state(data)


def _warm_up(data: TrialData) -> Check | None:
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
    figures = [*([format_rate(rate)] if data.closed is not None else [])]
    figures += [
        f"{name} {amount(rest_s[name], 's')}" for name in changed or SHOWN if rest_s[name] is not None
    ]
    times = format_number(round(slower, 1))
    message = (
        f"warm-up: the first {format_duration(length_s)} were {times} times slower, "
        f"without them {listed(figures)}"
    )
    affects = (*(RATES if faster else ()), *changed, *(f"service {name}" for name in changed))
    remedy = f"leave it out: --warm-up {math.ceil(length_s)}s (warm-up in a plan)"
    return Check("warm-up", Verdict.SUSPECT, slower, SLOWER, "times", message, remedy, affects)


def _slow_intervals(data: TrialData) -> int:
    """How many intervals at the beginning are those of a warm-up; 0 if none, or if that cannot be known."""
    medians = _medians(data)
    return 0 if medians is None else warm_up_length(medians)


def _medians(data: TrialData) -> Floats | None:
    """Of each interval but the last; None if the load varies, the server was away, or there are too few."""
    if not data.steady_load or data.has_background or data.outages:
        return None
    medians = data.responses.figure("p50")[:-1]
    if len(medians) < LONG_ENOUGH or None in medians:
        return None
    return np.array(medians, dtype=float)


def _times(data: TrialData, rest: Bools) -> dict[str, float | None]:
    """The quantiles of the rest of the trial; what failed meanwhile is longer than all."""
    (answered,) = fold(data.trial.interval_histograms("response"), [rest]).parts
    failed = int(data.counts.failed[rest].sum())
    sample = pool([answered, replace(EMPTY, never=failed)])
    return {name: quantile_estimate(sample, NAMED[name]).value for name in SHOWN}


def _steady_state(data: TrialData) -> Check | None:
    """Whether the run settled, if the load is meant to be steady. An outage is told as what it is."""
    if data.outages:
        return None
    changes = _changes(data) if data.settles else _changes_of_level(data)
    if changes is None:
        return None
    allowed = CHANGE if data.settles else SLOWER - 1
    change = max(changes.values(), default=0.0)
    if change <= allowed:
        return Check("steady state", Verdict.VALID, change, allowed, "share", "the run settled")
    message = f"no steady state: the second half differs from the first by {percent(change)}"
    remedy = "let it run longer, or give it a warm-up"
    affects = tuple(figure for group, c in changes.items() if c > allowed for figure in group)
    return Check("steady state", Verdict.SUSPECT, change, allowed, "share", message, remedy, affects)


def _changes(data: TrialData) -> dict[tuple[str, ...], float]:
    """By how much the halves of a long run differ, for each group of figures that did not settle (MSER-5 on
    throughput and on log p99).
    """
    throughput, p99 = data.throughputs[:-1], data.responses.figure("p99 to settle")[:-1]
    changes: dict[tuple[str, ...], float] = {} if mser(throughput).settled else {RATES: _change(throughput)}
    if all(p99):
        logs = np.log(np.array(p99, dtype=float))
        changes |= {} if mser(logs).settled else {TIMES: change_of_logs(logs)}
    return changes


def _changes_of_level(data: TrialData) -> dict[tuple[str, ...], float] | None:
    """The same of a run that is too short for MSER-5: if the level of its medians changes (PELT)."""
    medians = _medians(data)
    if medians is None:
        return None
    if trend(medians) not in ("slowdown", "unsettled"):
        return {}
    rates = RATES if data.closed is not None else ()  # waiting longer means sending less
    return {(*rates, *TIMES): change_of_logs(np.log(medians))}


def _change(series: Floats) -> float:
    half = len(series) // 2
    first, second = float(series[:half].mean()), float(series[half:].mean())
    return abs(second - first) / abs(first) if first else math.inf


def change_of_logs(series: Floats) -> float:
    """The same for a series of logarithms, in terms of the values themselves, whatever their unit."""
    half = len(series) // 2
    return abs(math.expm1(float(series[half:].mean()) - float(series[:half].mean())))
