"""What one slow request does to the fast ones: indices with intervals over rounds, and a sentence.

Starvation index SI = 1 - X_f(with)/X_f(alone). Blocking index BI = (p99_f(with) - p99_f(alone))/S, where S is
the time of the slow request by itself.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jostle.analysis.judge.figures import figure
from jostle.analysis.results import Estimate, Mode, PublishedFigure, Starvation, WorkloadSummary
from jostle.analysis.stats.bimodality import modes
from jostle.analysis.stats.bootstrap import share_over_rounds
from jostle.analysis.stats.enough import LEAST_ROUNDS, TOO_FEW_ROUNDS
from jostle.analysis.stats.over_rounds import half_width, mean_over_rounds, number, round_quantile
from jostle.analysis.stats.quantile_ci import CONFIDENCE, quantile_estimate
from jostle.analysis.stats.sample import pool
from jostle.analysis.summaries import seed_of
from jostle.analysis.trial.data import BACKGROUND, TrialData, by_round
from jostle.formatting import interval, percent
from jostle.plan import model as asked
from jostle.plan.metrics import INDICES
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["compare", "index_of", "to_repeat"]

HARMLESS, SEVERE, TOTAL = 0.1, 0.5, 0.9
"""Shares of the throughput, while the slow request runs, below and above which the sentence takes a stand."""

NEARLY_ALL = 0.7
"""Who waits for this part of the slow request waits for its end; who waits for less, for a turn."""


def compare(
    form: asked.Starvation,
    trials: Mapping[str, Sequence[TrialData]],
    summaries: Mapping[str, WorkloadSummary],
    published: Sequence[PublishedFigure],
    confidence: float = CONFIDENCE,
) -> Starvation:
    """Compare the workloads of one contestant; `trials` and `summaries` by workload are its own.

    `confidence` is that of the indices.
    """
    alone, beside = summaries[form.alone], summaries[form.with_]
    rounds = _paired(trials[form.alone], trials[form.with_])
    seed = seed_of(alone.contestant, form.alone, form.with_)
    slow = _slow(trials.get(form.slow, ()), trials[form.with_])
    starvation = Starvation(
        form=form.form,
        title=form.title,
        contestant=alone.contestant,
        alone_workload=form.alone,
        with_workload=form.with_,
        alone=alone.throughput,
        with_slow=beside.throughput,
        index=_index(rounds, seed, confidence),
        blocking=_blocking(alone, beside, slow, rounds, confidence),
        slow_s=slow,
        alone_response=alone.response,
        with_response=beside.response,
        published_alone=figure(published, alone.contestant, form.alone, "throughput"),
        published_with=figure(published, alone.contestant, form.with_, "throughput"),
        sentence="",
    )
    open_loop = bool(rounds) and rounds[0][1].open is not None
    sentence = _open_sentence(starvation) if open_loop else _closed_sentence(starvation, _Beside.of(rounds))
    found = [] if open_loop else modes([b.throughput / a.throughput for a, b in rounds if a.throughput])
    sentence += _two_modes(found)
    decides = "blocking index" if open_loop else "starvation index"
    if Verdict.INVALID in (alone.verdict_of(decides), beside.verdict_of(decides)):
        sentence = "Not to be trusted, the trials were invalid: " + sentence
    return replace(starvation, sentence=sentence, modes=found)


def index_of(quantity: str, found: Starvation) -> Estimate:
    """The index of that name."""
    return dict(zip(INDICES, (found.index, found.blocking), strict=True))[quantity]


def _two_modes(found: Sequence[Mode]) -> str:
    """What an average of two modes hides."""
    if not found:
        return ""
    said = [f"in {m.rounds} rounds {interval(Estimate(m.mean, m.low, m.high, 'share'))}" for m in found]
    return (
        f" It has two modes, between which the start decides: {said[0]} of the throughput is left, {said[1]}."
    )


def _paired(alone: Sequence[TrialData], beside: Sequence[TrialData]) -> list[tuple[TrialData, TrialData]]:
    """Trials of the same round, of which both measured something."""
    theirs = by_round(beside)
    return [(f, theirs[f.trial.round]) for f in alone if f.usable and f.trial.round in theirs]


def _index(rounds: Sequence[tuple[TrialData, TrialData]], seed: int, confidence: float) -> Estimate:
    left = share_over_rounds(
        [b.throughput for _, b in rounds], [a.throughput for a, _ in rounds], seed, confidence
    )
    if left.value is None:
        return left
    if left.low is None or left.high is None:
        return replace(left, value=1 - left.value)
    return replace(left, value=1 - left.value, low=1 - left.high, high=1 - left.low)


def _slow(by_itself: Sequence[TrialData], beside: Sequence[TrialData]) -> Estimate:
    """Mean service time of the slow request, by itself where that was measured."""
    means = [f.service.mean_s for f in by_itself if f.service.mean_s is not None]
    if means:
        return mean_over_rounds(means, "s")
    found = []
    for data in beside:
        if data.ok(BACKGROUND):
            found.append(data.total("service_sum_ns", BACKGROUND) / data.ok(BACKGROUND) / 1e9)
    return replace(mean_over_rounds(found, "s"), note="measured beside the fast requests, not by itself")


def _blocking(
    alone: WorkloadSummary,
    beside: WorkloadSummary,
    slow: Estimate,
    rounds: Sequence[tuple[TrialData, TrialData]],
    confidence: float,
) -> Estimate:
    """The slow request's time is measured too: its own variance is in the interval (delta method)."""
    before, after = alone.response["p99"], beside.response["p99"]
    if before.value is None or before.bound or after.value is None or not slow.value:
        return Estimate(None, unit="", n=len(rounds), note="too few requests, or no slow one was answered")
    value = _within_one((after.value - before.value) / slow.value)
    if after.bound:
        return Estimate(value, value, None, "", "≥", len(rounds), after.note)
    ends = [[round_quantile(data.response, 0.99) for data in side] for side in zip(*rounds, strict=True)]
    if len(rounds) < LEAST_ROUNDS or not all(isinstance(v, float) for side in ends for v in side):
        return Estimate(value, unit="", n=len(rounds), note=TOO_FEW_ROUNDS)
    change = after.value - before.value
    half = half_width([number(b) - number(a) for a, b in zip(*ends, strict=True)], change, confidence)
    half_slow = 0.0 if slow.low is None or slow.high is None else (slow.high - slow.low) / 2
    half = math.hypot(half, change * half_slow / slow.value) / slow.value
    exact = change / slow.value
    return Estimate(value, _within_one(exact - half), _within_one(exact + half), "", n=len(rounds))


def _within_one(value: float) -> float:
    return min(1.0, max(0.0, value))


@dataclass(frozen=True)
class _Beside:
    """What went on while a slow request ran."""

    share: float  # of the time, for which one ran
    seconds: float  # for which one ran, in a round
    wait_s: float | None  # median response time of the fast requests meanwhile
    clients: int  # of the fast requests

    @classmethod
    def of(cls, rounds: Sequence[tuple[TrialData, TrialData]]) -> "_Beside":
        running = [b.total("in_flight_ns", BACKGROUND) / 1e9 for _, b in rounds]
        shares = [seconds / b.duration_s for seconds, (_, b) in zip(running, rounds, strict=True)]
        meanwhile = pool([sample for _, b in rounds for sample in b.responses.parts])
        return cls(
            share=min(1.0, float(np.mean(shares))) if shares else 0.0,
            seconds=float(np.mean(running)) if running else 0.0,
            wait_s=quantile_estimate(meanwhile, 0.5).value if meanwhile.n else None,
            clients=max(((b.closed or {}).get("clients", 1) for _, b in rounds), default=1),
        )


def _blocks(s: Starvation, beside: _Beside) -> bool:
    """Some fast request waited for nearly all of a slow one, or of the part of it that the window saw."""
    largest = s.with_response["max"].value
    whole = min(s.slow_s.value or math.inf, beside.seconds or math.inf)
    return largest is None or largest >= NEARLY_ALL * whole


def _closed_sentence(s: Starvation, beside: _Beside) -> str:
    index, name = s.index, s.contestant
    if index.value is None:
        return f"Cannot tell whether a slow request starves {name}: {index.note}."
    waits = _waits(s.with_response["max"])
    if index.low is None or index.high is None:
        return (
            f"In {_rounds(index.n)}, {name} lost {percent(index.value)} of its throughput to a slow request, "
            f"and {waits}. {TOO_FEW_ROUNDS.capitalize()}."
        )
    lost = f"{interval(index, 'share')} of the throughput"
    low, high = (bound / (beside.share or 1) for bound in (index.low, index.high))
    if low >= SEVERE and not _blocks(s, beside):
        return _takes_turns(s, beside) + f": {lost} is lost."
    if low >= TOTAL:
        return f"While one slow request runs, {name} answers no other: {waits}. {lost} is lost."
    if low >= SEVERE:
        return f"While one slow request runs, {name} answers few others: {waits}. {lost} is lost."
    if high <= HARMLESS:
        return f"{name} keeps serving while a slow request runs: {lost} is lost, and {waits}."
    if low <= HARMLESS and high >= SEVERE:
        return (
            f"Cannot tell whether a slow request starves {name}: {percent(index.value)} of the throughput "
            "is lost, but the rounds differ too much. More rounds would tell."
        )
    if low <= 0:
        return (
            f"No loss of {name} beside a slow request can be told from chance: {lost} is lost, and {waits}."
        )
    return f"{name} slows down while a slow request runs, and keeps answering: {lost} is lost, and {waits}."


def _rounds(n: int) -> str:
    return "the only round" if n == 1 else f"{n} rounds"


def _takes_turns(s: Starvation, beside: _Beside) -> str:
    median = f"median {format_duration(beside.wait_s)}, " if beside.wait_s is not None else ""
    waits = f"{median}longest {_time(s.with_response['max'])}"
    clients = "one closed client gets" if beside.clients == 1 else f"{beside.clients} closed clients get"
    return (
        f"{s.contestant} keeps serving while a slow request runs, but each fast request waits about a time "
        f"slice ({waits}), so that {clients} through {percent(1 - (s.index.value or 0.0))} as many as alone"
    )


def _open_sentence(s: Starvation) -> str:
    blocking, name = s.blocking, s.contestant
    if blocking.value is None or s.slow_s.value is None:
        return f"Cannot tell whether slow requests block {name}: {blocking.note}."
    before, after = s.alone_response["p99"], s.with_response["p99"]
    change = (
        f"p99 goes from {_time(before)} alone to {_time(after)} beside slow requests of {_time(s.slow_s)}"
    )
    if not blocking.bound and (blocking.low is None or blocking.high is None):
        return f"In {_rounds(blocking.n)} of {name}, {change}. {TOO_FEW_ROUNDS.capitalize()}."
    low = blocking.value if blocking.low is None else blocking.low
    high = 1.0 if blocking.high is None else blocking.high
    if low >= SEVERE:
        return f"While a slow request runs, {name} answers no other in time: {change}."
    if high <= HARMLESS:
        return f"{name} keeps answering while slow requests run: {change}."
    if low <= HARMLESS and high >= SEVERE:
        return f"Cannot tell whether slow requests block {name}: {change}. More rounds would tell."
    return f"Slow requests hold up the fast ones of {name} for a part of their time: {change}."


def _waits(largest: Estimate) -> str:
    if largest.value is None:
        return "no fast request was answered"
    if largest.bound:
        return f"a fast request waited for {format_duration(largest.value)} and had no answer at the end"
    return f"fast requests wait for up to {format_duration(largest.value)}"


def _time(estimate: Estimate) -> str:
    if estimate.value is None:
        return "an unknown time"
    return ("at least " if estimate.bound else "") + format_duration(estimate.value)


def to_repeat(forms: Sequence[asked.Starvation], trials: Sequence[TrialData]) -> list[tuple[str, str]]:
    """(Contestant, workload) of the closed comparisons whose rounds look like two modes, one of them perhaps
    of a single round.
    """
    found: list[tuple[str, str]] = []
    for form in forms:
        for contestant in dict.fromkeys(f.trial.contestant for f in trials):
            own = [f for f in trials if f.trial.contestant == contestant and f.open is None]
            rounds = _paired(*([f for f in own if f.trial.workload == w] for w in (form.alone, form.with_)))
            if modes([b.throughput / a.throughput for a, b in rounds if a.throughput], least=1):
                found += [(contestant, form.alone), (contestant, form.with_)]
    return list(dict.fromkeys(found))
