"""Two contestants under one workload, or one contestant in two runs: what differs, by how much, how surely.

In one run rounds are interleaved, so both are resampled by the same rounds, and what a round does to both
cancels. Two runs have no rounds in common: each is resampled by itself.

Source: Kalibera and Jones (ISMM 2013): report the ratio with its interval. Wilcox, Introduction to Robust
Estimation (2012): the shift function; Hall and Wilson, Biometrics 47 (1991), for bands from the largest |t|.
"""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from jostle.analysis.compare.sentences import in_words, summary
from jostle.analysis.results import Comparison, Difference, Estimate, Finding, Shift, WorkloadSummary
from jostle.analysis.stats.bootstrap import (
    ONE_ROUND,
    QUANTILE_RESAMPLES,
    RESAMPLES,
    picks,
    quantile_replicates,
    stretch,
)
from jostle.analysis.stats.effect_size import cliffs_delta, harrell_davis, smooth_enough
from jostle.analysis.stats.kaplan_meier import product_limit
from jostle.analysis.stats.quantile_ci import CONFIDENCE, LEVELS
from jostle.analysis.stats.sample import Floats, Ints, WeightedSample, pool
from jostle.analysis.summaries import seed_of
from jostle.analysis.trial.data import TrialData
from jostle.record.verdict import worst

__all__ = ["SAME", "SHIFT_LEVELS", "Round", "Side", "compare_sides", "pair"]

SAME = 0.05
"""Two quantities are called the same where no difference larger than this share is left."""

SHIFT_LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999]

ALL_LEVELS = sorted({*SHIFT_LEVELS, *LEVELS.values()})

FEW = 20
"""A quantile with fewer requests than this beyond it in each side is not resampled (METHOD A)."""


_NO_ROUNDS = np.zeros((0, 1), dtype=np.int64)


@dataclass(frozen=True)
class Round:
    """What one trial measured, as far as it is compared."""

    number: int
    response: WeightedSample
    throughput: float
    ok: int
    failed: int

    @classmethod
    def of(cls, data: TrialData) -> "Round":
        failed = sum(data.errors.values())
        return cls(data.trial.round, data.response, data.throughput, data.ok(), failed)


@dataclass(frozen=True)
class Side:
    """One of the two: its cell, and what it measured, in order of rounds.

    The rounds that are drawn again follow from `seed`: sides with the same one are paired.
    """

    label: str
    summary: WorkloadSummary
    rounds: Sequence[Round]
    seed: int

    @cached_property
    def responses(self) -> list[WeightedSample]:
        return [r.response for r in self.rounds]

    @cached_property
    def pooled(self) -> WeightedSample:
        return pool(self.responses)

    @cached_property
    def many(self) -> Ints:
        """Rounds drawn again, a row each."""
        return picks(len(self.rounds), self.seed, RESAMPLES) if self.rounds else _NO_ROUNDS

    @cached_property
    def few(self) -> Ints:
        """As `many`, for what takes long."""
        return picks(len(self.rounds), self.seed, QUANTILE_RESAMPLES) if self.rounds else _NO_ROUNDS

    @cached_property
    def replicates(self) -> Floats:
        """Quantiles of all resamples in `few`, shape (`ALL_LEVELS`, resamples)."""
        if not self.pooled.n:
            return np.full((len(ALL_LEVELS), len(self.few)), math.inf)
        return quantile_replicates(self.responses, ALL_LEVELS, self.few, seed_of(self.label, str(self.seed)))


def pair(a: Side, b: Side) -> tuple[Side, Side]:
    """Both sides with the rounds that both have."""
    ours, theirs = ({r.number for r in side.rounds} for side in (a, b))
    return _only(a, theirs), _only(b, ours)


def _only(side: Side, numbers: Container[int]) -> Side:
    kept = [r for r in side.rounds if r.number in numbers]
    return side if len(kept) == len(side.rounds) else replace(side, rounds=kept)


def compare_sides(a: Side, b: Side) -> Comparison:
    """Everything that differs between `a` and `b`."""
    quantiles = [_quantile(a, b, name, ALL_LEVELS.index(p)) for name, p in LEVELS.items()]
    differences = [_rate(a, b), *quantiles, _errors(a, b)]
    comparison = Comparison(
        workload=a.summary.workload,
        title=a.summary.title,
        a=a.label,
        b=b.label,
        rounds=(len(a.rounds), len(b.rounds)),
        paired=a.seed == b.seed,
        verdict=worst([a.summary.verdict, b.summary.verdict]),
        differences=[replace(d, sentence=in_words(d, a.label, b.label)) for d in differences],
        cliffs_delta=cliffs_delta(a.responses, b.responses, (a.few, b.few)),
        shift=_shift(a, b),
        sentence="",
    )
    return replace(comparison, sentence=summary(comparison))


def _rounds(a: Side, b: Side) -> int:
    return min(len(a.rounds), len(b.rounds))


def _rate(a: Side, b: Side) -> Difference:
    means = []
    for side in (a, b):
        values = np.array([r.throughput for r in side.rounds])
        means.append((float(values.mean()) if len(values) else None, values[side.many].mean(axis=1)))
    (x, xs), (y, ys) = means
    return _told("throughput", a.summary.throughput, b.summary.throughput, (x, y), (xs, ys), _rounds(a, b))


def _quantile(a: Side, b: Side, name: str, row: int) -> Difference:
    """Of the rounds that are compared; the cells' own estimates, of all their rounds, stand beside it."""
    p, known = LEVELS[name], []
    for side in (a, b):
        estimate, beyond = side.summary.response[name], side.pooled.n * (1 - LEVELS[name])
        usable = estimate.value is not None and not estimate.bound and (p <= 0.5 or beyond >= FEW)
        known.append(product_limit(side.pooled).quantile(p) if usable and side.pooled.n else None)
    estimates = a.summary.response[name], b.summary.response[name]
    replicates = a.replicates[row], b.replicates[row]
    return _told(name, *estimates, (known[0], known[1]), replicates, _rounds(a, b))


def _errors(a: Side, b: Side) -> Difference:
    """Shares of failed requests; where none failed at all, their number bounds the difference."""
    estimates, replicates = [], []
    for side in (a, b):
        failed = np.array([r.failed for r in side.rounds], dtype=float)
        ended = failed + np.array([r.ok for r in side.rounds])
        total = float(ended.sum())
        share = float(failed.sum()) / total if total else None
        estimates.append(Estimate(share, unit="share", n=int(total)))
        replicates.append(failed[side.many].sum(axis=1) / np.maximum(ended[side.many].sum(axis=1), 1))
    ours, theirs = estimates
    values = ours.value, theirs.value
    found = _told("errors", ours, theirs, values, (replicates[0], replicates[1]), _rounds(a, b))
    if values == (0, 0) and _rounds(a, b) >= 2:
        most = [-math.expm1(math.log((1 - CONFIDENCE) / 2) / side.n) for side in estimates]
        return replace(found, difference=replace(found.difference, low=-most[0], high=most[1]))
    return found


def _told(
    quantity: str,
    a: Estimate,
    b: Estimate,
    values: tuple[float | None, float | None],
    replicates: tuple[Floats, Floats],
    rounds: int,
) -> Difference:
    x, y = values
    unit = a.unit
    if x is None or y is None:
        note = a.note if x is None and a.note else b.note
        unknown = Estimate(
            None, unit=unit, n=rounds, note=note or "too few requests, or not all were answered"
        )
        difference, ratio = unknown, replace(unknown, unit="")
    else:
        difference = _interval(y - x, _minus(replicates[1], replicates[0]), unit, rounds)
        ratio = _ratio(x, y, replicates, rounds)
    finding, within = _finding(ratio, difference)
    return Difference(quantity, a, b, difference, ratio, finding, within, "")


def _interval(value: float, replicates: Floats, unit: str, rounds: int) -> Estimate:
    """Student's quantile times the bootstrap standard error, corrected for the number of rounds."""
    if rounds < 2:
        return Estimate(value, unit=unit, n=rounds, note=ONE_ROUND)
    if not np.isfinite(replicates).all():
        return Estimate(value, unit=unit, n=rounds, note="not every round knows this quantile")
    half = stretch(rounds) * float(np.std(replicates))
    return Estimate(value, value - half, value + half, unit, n=rounds)


def _ratio(x: float, y: float, replicates: tuple[Floats, Floats], rounds: int) -> Estimate:
    """On a log scale, where it is symmetric: a against b then says the same as b against a."""
    if x <= 0 or y <= 0:
        return Estimate(y / x if x > 0 else None, unit="", n=rounds, note="one of the two is 0")
    if rounds >= 2 and min(replicates[0].min(), replicates[1].min()) <= 0:
        return Estimate(y / x, unit="", n=rounds, note="some round is 0")
    logs = _minus(np.log(replicates[1]), np.log(replicates[0]))
    found = _interval(math.log(y / x), logs, "", rounds)
    if found.low is None or found.high is None:
        return replace(found, value=y / x)
    return replace(found, value=y / x, low=_exp(found.low), high=_exp(found.high))


def _minus(left: Floats, right: Floats) -> Floats:
    """The difference, infinite where either side is."""
    finite = np.isfinite(left) & np.isfinite(right)
    return np.where(finite, np.where(finite, left, 0) - np.where(finite, right, 0), math.inf)


def _exp(value: float) -> float:
    return math.exp(max(-700.0, min(700.0, value)))


def _finding(ratio: Estimate, difference: Estimate) -> tuple[Finding, float | None]:
    """What b is against a, and the largest share by which they can still differ."""
    if ratio.low is None or ratio.high is None:
        return _side_of_zero(difference), None
    within = max(ratio.high - 1, 1 - ratio.low)
    return "same" if within <= SAME else _side_of_zero(
        replace(ratio, low=ratio.low - 1, high=ratio.high - 1)
    ), within


def _side_of_zero(interval: Estimate) -> Finding:
    if interval.low is not None and interval.low > 0:
        return "more"
    if interval.high is not None and interval.high < 0:
        return "less"
    return "unclear"


def _shift(a: Side, b: Side) -> Shift:
    """Quantiles by Harrell and Davis where there are enough requests, and simultaneous bands from max |t|."""
    rounds = _rounds(a, b)
    ours, theirs = [], []
    for p in SHIFT_LEVELS:
        x, y = _shift_quantiles(a.pooled, b.pooled, p)
        ours.append(x)
        theirs.append(y)
    differences = [
        y - x if x is not None and y is not None else None for x, y in zip(ours, theirs, strict=True)
    ]
    rows = [ALL_LEVELS.index(p) for p in SHIFT_LEVELS]
    half = _bands(b.replicates[rows], a.replicates[rows], [d is not None for d in differences], rounds)
    ends = list(zip(differences, half, strict=True))
    return Shift(
        list(SHIFT_LEVELS),
        ours,
        theirs,
        differences,
        [d - h if d is not None and h is not None else None for d, h in ends],
        [d + h if d is not None and h is not None else None for d, h in ends],
    )


def _shift_quantiles(a: WeightedSample, b: WeightedSample, p: float) -> tuple[float | None, float | None]:
    """The p-quantile of both, by the same estimator; None where too few requests lie beyond it."""
    if not a.n or not b.n or min(a.n, b.n) * (1 - p) < 1:
        return None, None
    if smooth_enough(a, p) and smooth_enough(b, p):
        return harrell_davis(a, p), harrell_davis(b, p)
    return product_limit(a).quantile(p), product_limit(b).quantile(p)


def _bands(ys: Floats, xs: Floats, known: Sequence[bool], rounds: int) -> list[float | None]:
    """Half widths, shape (levels): all of them hold at once with the stated confidence.

    The largest |t| over the levels, of resamples around their own mean; stretched for few rounds.
    """
    if rounds < 2:
        return [None] * len(known)
    usable = np.array(known) & (np.isfinite(xs) & np.isfinite(ys)).all(axis=1)
    if not usable.any():
        return [None] * len(known)
    rows = ys[usable] - xs[usable]
    errors = np.maximum(rows.std(axis=1), 1e-12)
    largest = (np.abs(rows - rows.mean(axis=1, keepdims=True)) / errors[:, None]).max(axis=0)
    factor = max(1.959964, float(np.quantile(largest, CONFIDENCE))) / 1.959964 * stretch(rounds)
    halves = iter((factor * errors).tolist())
    return [next(halves) if u else None for u in usable]
