"""What slow requests do to the fast ones: indices with intervals over rounds, and a sentence.

Starvation index SI = 1 - X_f(with)/X_f(alone). Blocking index BI = (p99_f(with) - p99_f(alone))/S, where S is
the time of the slow request by itself.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from jostle.analysis.results import Estimate, PublishedFigure, StarvationResult, WorkloadSummary
from jostle.analysis.results.published_figure import figure
from jostle.analysis.stats.bimodality import modes
from jostle.analysis.stats.indices import blocking_index, starvation_index
from jostle.analysis.stats.over_rounds import bounded, number, round_quantile, typical_over_rounds
from jostle.analysis.stats.quantile_ci import CONFIDENCE, quantile_estimate
from jostle.analysis.stats.sample import pool
from jostle.analysis.topics.starvation.blocking import Waits, slice_of, waits_for
from jostle.analysis.topics.starvation.meanwhile import left_over_rounds
from jostle.analysis.topics.starvation.sentences import Meanwhile, sentence
from jostle.analysis.trials.data import BACKGROUND, TrialData, by_round
from jostle.plan.criteria.metrics import BLOCKING, INDICES
from jostle.plan.model import Starvation
from jostle.record.verdict import Verdict

__all__ = ["compare", "compare_all", "index_at", "index_of", "to_repeat", "workloads_behind"]


@dataclass(frozen=True)
class _Compared:
    """One form on one contestant, with what its sentence needs."""

    found: StarvationResult
    loop: Literal["closed", "open"]
    meanwhile: Meanwhile
    waits: Waits
    slice_s: float | None
    trusted: bool


def compare(
    form: Starvation,
    trials: Mapping[str, Sequence[TrialData]],
    summaries: Mapping[str, WorkloadSummary],
    published: Sequence[PublishedFigure],
    confidence: float = CONFIDENCE,
) -> StarvationResult:
    """Compare the workloads of one contestant; `trials` and `summaries` are its own, by workload.

    `confidence` is that of the indices. The sentence is left to `compare_all`.
    """
    alone, beside = summaries[form.alone], summaries[form.with_]
    rounds = _paired(trials[form.alone], trials[form.with_])
    slow = _slow(trials.get(form.slow, ()), trials[form.with_])
    open_loop = bool(rounds) and rounds[0][1].open is not None
    return StarvationResult(
        form=form.form,
        title=form.title,
        contestant=alone.contestant,
        alone_workload=form.alone,
        with_workload=form.with_,
        slow_workload=form.slow if _service_means(trials.get(form.slow, ())) else "",
        alone=alone.throughput,
        with_slow=beside.throughput,
        index=_index(rounds, confidence),
        left=left_over_rounds([b for _, b in rounds], confidence),
        blocking=_blocking(alone.response, beside.response, slow, rounds, confidence),
        slow_s=slow,
        alone_response=alone.response,
        with_response=beside.response,
        published_alone=figure(published, alone.contestant, form.alone, "throughput"),
        published_with=figure(published, alone.contestant, form.with_, "throughput"),
        sentence="",
        modes=[] if open_loop else modes([b.throughput / a.throughput for a, b in rounds if a.throughput]),
    )


def compare_all(
    forms: Sequence[Starvation],
    trials: Mapping[str, Sequence[TrialData]],
    summaries: Mapping[str, WorkloadSummary],
    published: Sequence[PublishedFigure],
) -> list[StarvationResult]:
    """Every form whose two workloads were measured on this contestant, each with its sentence.

    A sentence also draws on the other forms, as only long slow requests show what fast ones wait for.
    """
    compared = [
        _compared(compare(form, trials, summaries, published), trials, summaries)
        for form in forms
        if form.alone in summaries and form.with_ in summaries
    ]
    return [replace(one.found, sentence=_sentence(one, compared)) for one in compared]


def _sentence(one: _Compared, compared: Sequence[_Compared]) -> str:
    others = [other.waits for other in compared if other is not one]
    waits = waits_for(one.waits, others, one.slice_s)
    return sentence(one.found, one.loop, one.meanwhile, waits, trusted=one.trusted)


def _compared(
    found: StarvationResult,
    trials: Mapping[str, Sequence[TrialData]],
    summaries: Mapping[str, WorkloadSummary],
) -> _Compared:
    alone, beside = found.alone_workload, found.with_workload
    rounds = _paired(trials[alone], trials[beside])
    running_s = [b.total("in_flight_ns", BACKGROUND) / 1e9 / b.background_clients for _, b in rounds]
    shares = [seconds / b.duration_s for seconds, (_, b) in zip(running_s, rounds, strict=True)]
    meanwhile = pool([sample for _, b in rounds for sample in b.responses.parts])
    seen_s = float(np.mean(running_s)) if running_s else math.inf
    slices = (slice_of(b.trial.description.get("server", {}).get("slice", "")) for _, b in rounds)
    slow_clients = max((b.background_clients for _, b in rounds), default=1)
    return _Compared(
        found=found,
        loop="open" if rounds and rounds[0][1].open is not None else "closed",
        meanwhile=Meanwhile(
            share=min(1.0, float(np.mean(shares))) if shares else 0.0,
            wait_s=quantile_estimate(meanwhile, 0.5).value if meanwhile.n else None,
            clients=max(((b.closed or {}).get("clients", 1) for _, b in rounds), default=1),
            slow_clients=slow_clients,
        ),
        waits=Waits(
            min(found.slow_s.value or math.inf, seen_s),
            found.with_response["max"].value,
            slow_clients,
        ),
        slice_s=next(filter(None, slices), None),
        trusted=Verdict.INVALID not in (summaries[alone].verdict, summaries[beside].verdict),
    )


def workloads_behind(metric: str, found: StarvationResult) -> list[str]:
    """The workloads that the index of that name is computed from: a blocking index has a divisor."""
    both = [found.alone_workload, found.with_workload]
    return [*both, found.slow_workload] if metric == BLOCKING and found.slow_workload else both


def index_of(metric: str, found: StarvationResult) -> Estimate:
    """The index of that name."""
    return dict(zip(INDICES, (found.index, found.blocking), strict=True))[metric]


def index_at(
    metric: str,
    found: StarvationResult,
    grouped: Mapping[tuple[str, str], Sequence[TrialData]],
    confidence: float,
) -> Estimate:
    """The index of that name with an interval of another confidence.

    `grouped`: trials by contestant and workload.
    """
    pairs = [(found.contestant, name) for name in (found.alone_workload, found.with_workload)]
    rounds = _paired(*(grouped[key] for key in pairs))
    blocking = _blocking(found.alone_response, found.with_response, found.slow_s, rounds, confidence)
    return dict(zip(INDICES, (_index(rounds, confidence), blocking), strict=True))[metric]


def _paired(alone: Sequence[TrialData], beside: Sequence[TrialData]) -> list[tuple[TrialData, TrialData]]:
    """Pairs of trials of the same round in which both are usable."""
    theirs = by_round(beside)
    return [(f, theirs[f.trial.round]) for f in alone if f.usable and f.trial.round in theirs]


def _index(rounds: Sequence[tuple[TrialData, TrialData]], confidence: float) -> Estimate:
    if any(not a.throughput for a, _ in rounds):
        return Estimate(None, unit="", n=len(rounds), note="nothing to compare with")
    return starvation_index([b.throughput / a.throughput for a, b in rounds], confidence)


def _slow(by_itself: Sequence[TrialData], beside: Sequence[TrialData]) -> Estimate:
    """Mean service time of the slow request: by itself if that was measured, else beside fast requests."""
    if means := _service_means(by_itself):
        return typical_over_rounds(means, "s")
    found = []
    for data in beside:
        if data.ok(BACKGROUND):
            found.append(data.total("service_sum_ns", BACKGROUND) / data.ok(BACKGROUND) / 1e9)
    return replace(typical_over_rounds(found, "s"), note="measured beside the fast requests, not by itself")


def _service_means(trials: Sequence[TrialData]) -> list[float]:
    return [mean_s for data in trials if (mean_s := data.service.mean_s) is not None]


def _blocking(
    alone: Mapping[str, Estimate],
    beside: Mapping[str, Estimate],
    slow: Estimate,
    rounds: Sequence[tuple[TrialData, TrialData]],
    confidence: float,
) -> Estimate:
    before, after, n = alone["p99"], beside["p99"], len(rounds)
    if not slow.value:
        return Estimate(None, unit="", n=n, note="no slow request was answered")
    if before.value is None or before.bound:
        return Estimate(None, unit="", n=n, note=_why_no_p99("without slow requests", before))
    if after.value is None:
        return Estimate(None, unit="", n=n, note=_why_no_p99("beside slow requests", after))
    if not rounds:
        return Estimate(None, unit="", note="no round measured both")
    ours, theirs = ([round_quantile(f.response, 0.99) for f in side] for side in zip(*rounds, strict=True))
    if any(value is None or number(value) <= 0 for value in (*ours, *theirs)):
        return Estimate(None, unit="", n=n, note="too few requests in some round")
    xs, ys = ([number(value) for value in side] for side in (ours, theirs))
    return bounded(blocking_index(xs, ys, slow, confidence), theirs)


def _why_no_p99(where: str, found: Estimate) -> str:
    why = "only a lower bound is known" if found.bound else found.note or "too few requests were answered"
    return f"its p99 {where} has no value: {why}"


def to_repeat(forms: Sequence[Starvation], trials: Sequence[TrialData]) -> list[tuple[str, str]]:
    """(Contestant, workload) of the closed-loop comparisons whose rounds look bimodal.

    One of the two modes may consist of a single round.
    """
    found: list[tuple[str, str]] = []
    for form in forms:
        for contestant in dict.fromkeys(f.trial.contestant for f in trials):
            own = [f for f in trials if f.trial.contestant == contestant and f.open is None]
            rounds = _paired(*([f for f in own if f.trial.workload == w] for w in (form.alone, form.with_)))
            if modes([b.throughput / a.throughput for a, b in rounds if a.throughput], min_rounds=1):
                found += [(contestant, form.alone), (contestant, form.with_)]
    return list(dict.fromkeys(found))
