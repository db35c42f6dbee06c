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
from jostle.analysis.stats.enough import LEAST_ROUNDS, TOO_FEW_ROUNDS
from jostle.analysis.stats.over_rounds import half_width, number, round_quantile, typical_over_rounds
from jostle.analysis.stats.quantile_ci import CONFIDENCE, quantile_estimate
from jostle.analysis.stats.sample import pool
from jostle.analysis.trial.data import BACKGROUND, TrialData, by_round
from jostle.formatting import interval, percent
from jostle.plan import model as asked
from jostle.plan.metrics import INDICES
from jostle.record.verdict import Verdict
from jostle.units import format_duration

__all__ = ["compare", "index_at", "index_of", "to_repeat"]

HARMLESS, SEVERE, TOTAL = 0.1, 0.5, 0.9
"""Shares of the throughput, while the slow request runs, below and above which the sentence takes a stand."""

HARDLY_ANY = 0.1
"""Share of the throughput up to which hardly any is left."""

FINEST = 0.01
"""An index is not told to less than this where hardly anything is left."""

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
    slow = _slow(trials.get(form.slow, ()), trials[form.with_])
    starvation = Starvation(
        form=form.form,
        title=form.title,
        contestant=alone.contestant,
        alone_workload=form.alone,
        with_workload=form.with_,
        alone=alone.throughput,
        with_slow=beside.throughput,
        index=_index(rounds, confidence),
        blocking=_blocking(alone.response, beside.response, slow, rounds, confidence),
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


def index_at(
    quantity: str,
    found: Starvation,
    grouped: Mapping[tuple[str, str], Sequence[TrialData]],
    confidence: float,
) -> Estimate:
    """The index of that name with an interval of another confidence; `grouped`: trials by contestant and
    workload."""
    pairs = [(found.contestant, name) for name in (found.alone_workload, found.with_workload)]
    rounds = _paired(*(grouped[key] for key in pairs))
    blocking = _blocking(found.alone_response, found.with_response, found.slow_s, rounds, confidence)
    return dict(zip(INDICES, (_index(rounds, confidence), blocking), strict=True))[quantity]


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


def _index(rounds: Sequence[tuple[TrialData, TrialData]], confidence: float) -> Estimate:
    """1 - what is left of the throughput, of a typical start. What is left is compared by logarithms,
    unless nearly nothing is in any round: a logarithm near 0 differs by much where the share itself hardly
    does.
    """
    left = [b.throughput / a.throughput for a, b in rounds if a.throughput]
    n = len(left)
    if not n or n < len(rounds):
        return Estimate(None, unit="", n=len(rounds), note="nothing to compare with")
    if max(left) <= HARDLY_ANY:
        found = Estimate(float(np.mean(left)), unit="", n=n, note=TOO_FEW_ROUNDS)
        if n >= LEAST_ROUNDS:
            half = max(half_width(left, 0.0, confidence), FINEST)
            ends = max(0.0, float(np.mean(left)) - half), float(np.mean(left)) + half
            found = Estimate(found.value, *ends, "", n=n)
    else:
        found = typical_over_rounds(left, "", confidence)
    value, low, high = (None if v is None else 1 - v for v in (found.value, found.high, found.low))
    return replace(found, value=value, low=low, high=high, rounds=tuple(1 - v for v in left))


def _slow(by_itself: Sequence[TrialData], beside: Sequence[TrialData]) -> Estimate:
    """Mean service time of the slow request, by itself where that was measured."""
    means = [f.service.mean_s for f in by_itself if f.service.mean_s is not None]
    if means:
        return typical_over_rounds(means, "s")
    found = []
    for data in beside:
        if data.ok(BACKGROUND):
            found.append(data.total("service_sum_ns", BACKGROUND) / data.ok(BACKGROUND) / 1e9)
    return replace(typical_over_rounds(found, "s"), note="measured beside the fast requests, not by itself")


def _blocking(
    alone: Mapping[str, Estimate],
    beside: Mapping[str, Estimate],
    slow: Estimate,
    rounds: Sequence[tuple[TrialData, TrialData]],
    confidence: float,
) -> Estimate:
    """Of typical starts. What each of the three times varies by is in the interval (delta method, by
    rounds)."""
    before, after, n = alone["p99"], beside["p99"], len(rounds)
    if before.value is None or before.bound or after.value is None or not slow.value:
        return Estimate(None, unit="", n=n, note="too few requests, or no slow one was answered")
    exact = (after.value - before.value) / slow.value
    value = _within_one(exact)
    if after.bound:
        return Estimate(value, value, None, "", "≥", n, after.note)
    ends = [[round_quantile(data.response, 0.99) for data in side] for side in zip(*rounds, strict=True)]
    if n < LEAST_ROUNDS or not all(isinstance(v, float) for side in ends for v in side):
        return Estimate(value, unit="", n=n, note=TOO_FEW_ROUNDS)
    xs, ys = (np.log([number(v) for v in side]) for side in ends)
    parts = (after.value * ys - before.value * xs) / slow.value
    if len(slow.rounds) == n:  # of the same rounds
        half = half_width((parts - exact * np.log(slow.rounds)).tolist(), exact, confidence)
    else:
        half_slow = half_width(np.log(slow.rounds).tolist(), 1.0, confidence) if len(slow.rounds) > 1 else 0.0
        half = math.hypot(half_width(parts.tolist(), exact, confidence), exact * half_slow)
    each = tuple(((np.exp(ys) - np.exp(xs)) / slow.value).tolist())
    return Estimate(value, _within_one(exact - half), _within_one(exact + half), "", n=n, rounds=each)


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
