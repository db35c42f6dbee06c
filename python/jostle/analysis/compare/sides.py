"""Two contestants under one workload, or one contestant in two runs: what differs, by how much, how surely.

In one run rounds are interleaved, so both are compared round by round, and what a round does to both
cancels. Two runs have no round in common, and are two samples of size one: how far runs of the same server
lie apart is not known from them, and nothing is decided.

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
    QUANTILE_RESAMPLES,
    RESAMPLES,
    picks,
    quantile_replicates,
    stretch,
)
from jostle.analysis.stats.effect_size import cliffs_delta, harrell_davis, smooth_enough
from jostle.analysis.stats.enough import LEAST_ROUNDS, TOO_FEW_ROUNDS, TWO_RUNS
from jostle.analysis.stats.kaplan_meier import product_limit
from jostle.analysis.stats.over_rounds import (
    RESOLUTION,
    half_width,
    number,
    ratio_of_rounds,
    round_quantile,
    typical_over_rounds,
)
from jostle.analysis.stats.proportion import difference_of_shares
from jostle.analysis.stats.quantile_ci import CONFIDENCE, LEVELS
from jostle.analysis.stats.sample import Floats, Ints, WeightedSample, pool
from jostle.analysis.trial.data import TrialData
from jostle.record.verdict import worst

__all__ = ["SAME", "SHIFT_LEVELS", "Round", "Side", "compare_errors", "compare_sides", "pair"]

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
        return quantile_replicates(self.responses, ALL_LEVELS, self.few)


def pair(a: Side, b: Side) -> tuple[Side, Side]:
    """Both sides with the rounds that both have."""
    ours, theirs = ({r.number for r in side.rounds} for side in (a, b))
    return _only(a, theirs), _only(b, ours)


def _only(side: Side, numbers: Container[int]) -> Side:
    kept = [r for r in side.rounds if r.number in numbers]
    return side if len(kept) == len(side.rounds) else replace(side, rounds=kept)


def compare_sides(a: Side, b: Side) -> Comparison:
    """Everything that differs between `a` and `b`."""
    quantiles = [_quantile(a, b, name) for name in LEVELS]
    differences = [_rate(a, b), *quantiles, compare_errors(a, b)]
    comparison = Comparison(
        workload=a.summary.workload,
        title=a.summary.title,
        a=a.label,
        b=b.label,
        rounds=(len(a.rounds), len(b.rounds)),
        paired=a.seed == b.seed,
        verdict=worst([a.summary.verdict, b.summary.verdict]),
        differences=[
            replace(
                d,
                sentence=in_words(d, a.label, b.label),
                verdict=worst(s.summary.verdict_of(d.quantity) for s in (a, b)),
            )
            for d in differences
        ],
        cliffs_delta=_cliffs_delta(a, b),
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
    if x is None or y is None:
        return _unknown("throughput", a.summary.throughput, b.summary.throughput, "nothing was measured")
    note = _undecided(a, b)
    difference = _interval(y - x, ys - xs, "/s", len(a.rounds), note)
    ratio = _ratio(x, y, (xs, ys), len(a.rounds), note)
    return _found("throughput", a.summary.throughput, b.summary.throughput, difference, ratio)


def _quantile(a: Side, b: Side, name: str) -> Difference:
    """Of typical starts; round by round where the interval is concerned."""
    p, ours, theirs = LEVELS[name], a.summary.response[name], b.summary.response[name]
    xs, ys = ([round_quantile(r.response, p) for r in side.rounds] for side in (a, b))
    few = any(p > 0.5 and side.pooled.n * (1 - p) < FEW for side in (a, b))
    known = [v for v in (*xs, *ys) if isinstance(v, float)]
    if few or not xs or not ys or len(known) < len(xs) + len(ys):
        note = (ours.note if ours.value is None else "") or theirs.note if not few else ""
        return _unknown(name, ours, theirs, note or "too few requests, or not all were answered")
    x, y = (typical_over_rounds(values, "s").value or 0.0 for values in (xs, ys))
    note, n = _undecided(a, b), min(len(xs), len(ys))
    if note:
        difference = Estimate(y - x, n=n, note=note)
        return _found(name, ours, theirs, difference, Estimate(y / x, unit="", n=n, note=note))
    half = half_width([number(d) - number(c) for c, d in zip(xs, ys, strict=True)], (x + y) / 2)
    difference = Estimate(y - x, y - x - half, y - x + half, n=n)
    return _found(name, ours, theirs, difference, ratio_of_rounds(ys, xs))


def _undecided(a: Side, b: Side) -> str:
    """Why there is no interval; "" where there is one."""
    if a.seed != b.seed:
        return TWO_RUNS
    return TOO_FEW_ROUNDS if _rounds(a, b) < LEAST_ROUNDS else ""


def compare_errors(a: Side, b: Side) -> Difference:
    """Shares of failed requests. Of the intervals over requests and over rounds, what lies in either.

    Requests alone do not know how rounds differ; a few failures in a few rounds hardly differ from round
    to round, and yet prove little. Source of the first: Newcombe, Statistics in Medicine 17 (1998).
    """
    counted, replicates = [], []
    for side in (a, b):
        failed = np.array([r.failed for r in side.rounds], dtype=float)
        ended = failed + np.array([r.ok for r in side.rounds])
        counted.append((int(failed.sum()), int(ended.sum())))
        replicates.append(failed[side.many].sum(axis=1) / np.maximum(ended[side.many].sum(axis=1), 1))
    (k, n), (j, m) = counted
    ours, theirs = (Estimate(c / of if of else None, unit="share", n=of) for c, of in counted)
    if ours.value is None or theirs.value is None:
        return _unknown("errors", ours, theirs, "no request came to an end")
    note, change = _undecided(a, b), theirs.value - ours.value
    difference = _interval(
        change, replicates[1] - replicates[0] if not note else np.zeros(1), "share", len(a.rounds), note
    )
    if difference.low is not None and difference.high is not None:
        low, high = difference_of_shares(k, n, j, m)
        difference = replace(difference, low=min(low, difference.low), high=max(high, difference.high))
    ratio = Estimate(theirs.value / ours.value if ours.value else None, unit="", n=len(a.rounds))
    return _found("errors", ours, theirs, difference, ratio)


def _unknown(quantity: str, a: Estimate, b: Estimate, note: str) -> Difference:
    unknown = Estimate(None, unit=a.unit, note=note)
    return Difference(quantity, a, b, unknown, replace(unknown, unit=""), "unclear", None, "")


def _found(quantity: str, a: Estimate, b: Estimate, difference: Estimate, ratio: Estimate) -> Difference:
    finding, within = _finding(ratio, difference)
    return Difference(quantity, a, b, difference, ratio, finding, within, "")


def _interval(value: float, replicates: Floats, unit: str, rounds: int, note: str) -> Estimate:
    """Student's quantile times the bootstrap standard error, corrected for the number of rounds."""
    if note:
        return Estimate(value, unit=unit, n=rounds, note=note)
    half = stretch(rounds) * float(np.std(replicates))
    return Estimate(value, value - half, value + half, unit, n=rounds)


def _ratio(x: float, y: float, replicates: tuple[Floats, Floats], rounds: int, note: str) -> Estimate:
    """On a log scale, where it is symmetric: a against b then says the same as b against a."""
    if x <= 0 or y <= 0:
        return Estimate(y / x if x > 0 else None, unit="", n=rounds, note="one of the two is 0")
    if note:
        return Estimate(y / x, unit="", n=rounds, note=note)
    if min(replicates[0].min(), replicates[1].min()) <= 0:
        return Estimate(y / x, unit="", n=rounds, note="zero in some round")
    logs = np.log(replicates[1]) - np.log(replicates[0])
    half = stretch(rounds) * max(RESOLUTION / math.sqrt(rounds), float(np.std(logs)))
    middle = math.log(y / x)
    return Estimate(y / x, _exp(middle - half), _exp(middle + half), "", n=rounds)


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


def _cliffs_delta(a: Side, b: Side) -> Estimate:
    found = cliffs_delta(a.responses, b.responses, (a.few, b.few))
    note = _undecided(a, b)
    return replace(found, low=None, high=None, note=note) if note and found.value is not None else found


def _shift(a: Side, b: Side) -> Shift:
    """Quantiles by Harrell and Davis where there are enough requests, and simultaneous bands from max |t|."""
    ours, theirs = [], []
    for p in SHIFT_LEVELS:
        x, y = _shift_quantiles(a.pooled, b.pooled, p)
        ours.append(x)
        theirs.append(y)
    differences = [
        y - x if x is not None and y is not None else None for x, y in zip(ours, theirs, strict=True)
    ]
    rows = [ALL_LEVELS.index(p) for p in SHIFT_LEVELS]
    half = _bands(
        b.replicates[rows],
        a.replicates[rows],
        [d is not None and not _undecided(a, b) for d in differences],
        _rounds(a, b),
    )
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
    if not any(known):
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
