"""One side of a comparison: a contestant under a workload, round by round."""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from jostle.analysis.metrics import VALUE_OF
from jostle.analysis.results import Estimate, WorkloadSummary
from jostle.analysis.stats.bootstrap import QUANTILE_RESAMPLES, picks, quantile_replicates
from jostle.analysis.stats.moderated import UsualOf, not_known, spread_of
from jostle.analysis.stats.over_rounds import (
    AtLeast,
    RoundValue,
    quantiles_over_rounds,
    round_quantile,
    typical_over_rounds,
    within_rounds,
)
from jostle.analysis.stats.sample import Floats, Ints, WeightedSample, pool
from jostle.analysis.summaries.workload import seed_of
from jostle.analysis.trials.data import TrialData
from jostle.formatting import percent
from jostle.plan.criteria.metrics import METRICS
from jostle.quantiles import COMPARED, NAMED
from jostle.record.verdict import Verdict

__all__ = ["ALL_LEVELS", "SHIFT_LEVELS", "Round", "Side", "WholeRun", "doubts", "pair"]

SHIFT_LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999]

ALL_LEVELS = sorted({*SHIFT_LEVELS, *COMPARED.values()})

_NO_ROUNDS = np.zeros((0, 1), dtype=np.int64)


@dataclass(frozen=True)
class Round:
    """What one trial measured, as far as comparisons need it."""

    number: int
    response: WeightedSample
    throughput: RoundValue
    ok: int
    failed: int
    data: TrialData | None = None

    @classmethod
    def of(cls, data: TrialData) -> "Round":
        ok, failed = data.ended - data.failing, data.failing
        return cls(data.trial.round, data.response, data.throughput, ok, failed, data)

    def value(self, metric: str) -> RoundValue:
        """A metric of plans; None if it was not measured."""
        if metric == "throughput":
            return self.throughput
        if metric in NAMED:
            return round_quantile(self.response, NAMED[metric])
        return VALUE_OF[metric](self.data) if self.data else None


@dataclass(frozen=True)
class WholeRun(Round):
    """All rounds of a run, if runs are the unit: its metrics are those of a typical start."""

    rounds: Sequence[Round] = ()

    @classmethod
    def of_rounds(cls, number: int, rounds: Sequence[Round]) -> "WholeRun":
        return cls(
            number,
            pool(r.response for r in rounds),
            _typical([r.throughput for r in rounds]),
            sum(r.ok for r in rounds),
            sum(r.failed for r in rounds),
            rounds=rounds,
        )

    def value(self, metric: str) -> RoundValue:
        if metric == "throughput":
            return self.throughput
        return _typical([r.value(metric) for r in self.rounds])


def _typical(rounds: Sequence[RoundValue]) -> RoundValue:
    """The value of a run from those of its rounds; None if they have no typical one."""
    found = typical_over_rounds(rounds, "")
    return AtLeast(found.value) if found.bound and found.value is not None else found.value


@dataclass(frozen=True)
class Side:
    """A contestant: its summary, and what was measured, in order of rounds.

    Sides of the same `run` are paired by round. On a side of several runs, `rounds` are whole runs.
    """

    label: str
    summary: WorkloadSummary
    rounds: Sequence[Round]
    run: str = ""
    of_runs: bool = False
    """Whether its unit is the run."""
    usual: UsualOf = not_known
    """What spread rounds usually have in its run."""

    @cached_property
    def responses(self) -> list[WeightedSample]:
        return [r.response for r in self.rounds]

    @cached_property
    def pooled(self) -> WeightedSample:
        return pool(self.responses)

    def values(self, metric: str) -> list[RoundValue]:
        """A metric of each round."""
        return [r.value(metric) for r in self.rounds]

    def within(self, metric: str) -> float:
        """The variance of the metric's logarithm in a round that its few requests explain, if known."""
        return within_rounds(self.responses, NAMED[metric]) if metric in NAMED else 0.0

    def figure(self, metric: str) -> Estimate:
        """A metric over the rounds."""
        if metric == "throughput":
            return self.summary.throughput
        if metric in self.summary.response:
            return self.summary.response[metric]
        return typical_over_rounds(self.values(metric), METRICS[metric])

    @cached_property
    def drawn(self) -> Ints:
        """Resampled rounds, one resample per row: the same ones for all sides of a workload."""
        seed = seed_of(self.summary.workload)
        return picks(len(self.rounds), seed, QUANTILE_RESAMPLES) if self.rounds else _NO_ROUNDS

    @cached_property
    def replicates(self) -> Floats:
        """Quantiles of all resamples, shape (`ALL_LEVELS`, resamples)."""
        if not self.pooled.n:
            return np.full((len(ALL_LEVELS), len(self.drawn)), math.inf)
        return quantile_replicates(self.responses, ALL_LEVELS, self.drawn)


def doubts(*sides: Side) -> list[str]:
    """Notes on the sides whose trials were not all valid, or not undisturbed."""
    return [said for side in sides if (said := _doubt(side.summary, side.label))]


def _doubt(summary: WorkloadSummary, label: str) -> str:
    where = f"rials of {summary.workload} on {label}"
    if summary.verdict is not Verdict.VALID:
        return f"T{where} were {summary.verdict}: see `jostle report`"
    if summary.kept_waiting:
        return (
            f"In t{where}, server or generator waited for a core for up to {percent(summary.kept_waiting)} "
            "of the time: as much of a difference may come from that"
        )
    return ""


def pair(a: Side, b: Side) -> tuple[Side, Side]:
    """Both sides reduced to the rounds that both have, with the figures of these rounds."""
    ours, theirs = ({r.number for r in side.rounds} for side in (a, b))
    return _only(a, theirs), _only(b, ours)


def _only(side: Side, numbers: Container[int]) -> Side:
    kept = [r for r in side.rounds if r.number in numbers]
    if len(kept) == len(side.rounds):
        return side
    summary = replace(
        side.summary,
        throughput=typical_over_rounds(
            [r.throughput for r in kept], "/s", usual=spread_of(side.usual("throughput"))
        ),
        response=quantiles_over_rounds([r.response for r in kept], usual=side.usual),
    )
    return replace(side, summary=summary, rounds=kept)
