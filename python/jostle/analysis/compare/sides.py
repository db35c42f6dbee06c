"""Two contestants under one workload, or two sides of several runs each: how much they differ, how surely.

In one run rounds are interleaved, so both sides are compared round by round, and what a round does to both
cancels. Two runs have no round in common, and one run on each side does not show how much runs of the same
server differ, so nothing is decided. With three or more runs on each side, the run is the unit.

Source: Kalibera and Jones (ISMM 2013): report the ratio with its interval over the topmost level that
varies. Welch, Biometrika 34 (1947), for several runs. Wilcox, Introduction to Robust Estimation (2012): the
shift function; Hall and Wilson, Biometrics 47 (1991), for bands from the largest |t|.
"""

import math
from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from jostle.analysis.compare.family import ALONE, ComparisonFamily, within
from jostle.analysis.compare.sentences import in_words, summary
from jostle.analysis.compare.side import ALL_LEVELS, SHIFT_LEVELS, Side
from jostle.analysis.results import Comparison, Difference, DifferenceFinding, Estimate, Shift
from jostle.analysis.stats import student
from jostle.analysis.stats.bootstrap import stretch
from jostle.analysis.stats.effect_size import cliffs_delta
from jostle.analysis.stats.enough import MIN_ROUNDS, TOO_FEW_ROUNDS, TOO_FEW_RUNS, TWO_RUNS
from jostle.analysis.stats.kaplan_meier import product_limit
from jostle.analysis.stats.many_to_one import Contrast, against_first, own_limit
from jostle.analysis.stats.moderated import RESOLUTION, Spread, moderated, spread_of
from jostle.analysis.stats.over_rounds import too_far_apart
from jostle.analysis.stats.proportion import difference_of_shares
from jostle.analysis.stats.quantile_ci import CONFIDENCE, samples_needed
from jostle.analysis.stats.sample import Floats, WeightedSample
from jostle.analysis.trials.statuses import contrast
from jostle.plan.criteria.metrics import METRICS
from jostle.quantiles import COMPARED, NAMED
from jostle.record.verdict import Verdict, worst
from jostle.units import scale

__all__ = ["SAME", "compare_errors", "compare_sides", "finding_of", "welch"]

USUAL = ("throughput", *COMPARED, "errors")
"""The metrics of every comparison."""

SAME = 0.05
"""Two metrics are called the same if no difference larger than this share is possible."""

FEW = 20
"""A quantile with fewer requests than this beyond it on either side is not compared."""


def compare_sides(
    a: Side, b: Side, family: ComparisonFamily = ALONE, more: Container[str] = ()
) -> Comparison:
    """Everything that differs between `a` and `b`; `family`: who else is compared with `a`.

    `more`: metrics to compare besides the usual ones, if either side has them.
    """
    chosen = [name for name in METRICS if name in USUAL or (name in more and _has_any(name, a, b))]
    differences = [_difference(a, b, name, family) for name in chosen]
    judged = [replace(d, verdict=worst(s.summary.verdict_of(d.metric) for s in (a, b))) for d in differences]
    unlike = contrast(a.summary.statuses, b.summary.statuses, (f"on {a.label}", f"on {b.label}"))
    comparison = Comparison(
        workload=a.summary.workload,
        title=a.summary.title,
        a=a.label,
        b=b.label,
        rounds=(len(a.rounds), len(b.rounds)),
        paired=a.run == b.run,
        verdict=worst([a.summary.verdict, b.summary.verdict, *([Verdict.SUSPECT] if unlike else [])]),
        differences=[replace(d, sentence=in_words(d, a.label, b.label)) for d in judged],
        cliffs_delta=_cliffs_delta(a, b),
        shift=_shift(a, b),
        sentence="",
        unit="run" if a.of_runs else "round",
        statuses=unlike,
        unpaired=0 if a.run != b.run or a.of_runs else _left_out(a) + _left_out(b),
        confidence=family.confidence(_rounds(a, b)),
    )
    return replace(comparison, sentence=summary(comparison))


def _has_any(metric: str, *sides: Side) -> bool:
    return any(value is not None for side in sides for value in side.values(metric))


def _left_out(side: Side) -> int:
    """Number of rounds in which the other side was not measured."""
    return max(0, side.summary.rounds - len(side.rounds))


def _rounds(a: Side, b: Side) -> int:
    return min(len(a.rounds), len(b.rounds))


def _undecided(a: Side, b: Side) -> str:
    """Why there is no interval; "" if there is one."""
    if a.run != b.run and not (a.of_runs and b.of_runs):
        return TWO_RUNS
    if _rounds(a, b) < MIN_ROUNDS:
        return TOO_FEW_RUNS if a.of_runs else TOO_FEW_ROUNDS
    return ""


def _difference(a: Side, b: Side, metric: str, family: ComparisonFamily) -> Difference:
    if metric == "errors":
        return compare_errors(a, b, family)
    ours, theirs = a.figure(metric), b.figure(metric)
    if not _rounds(a, b):
        return _unknown(metric, ours, theirs, "nothing was measured")
    xs, ys = _known(a, metric), _known(b, metric)
    p = NAMED.get(metric, 0.0)
    few = any(p > 0.5 and side.pooled.n * (1 - p) < FEW for side in (a, b))
    if p and (few or xs is None or ys is None):
        return _unknown(metric, ours, theirs, _why_not_compared(a, b, metric, few=few))
    if xs is None or ys is None:
        return _unknown(metric, ours, theirs, next((e.note for e in (ours, theirs) if e.value is None), ""))
    return _compared(metric, (a, b), (ours, theirs), xs, ys, family)


def _known(side: Side, metric: str) -> list[float] | None:
    """The value of each round; None if one of them is not known, or only bounded."""
    values = side.values(metric)
    known = [value for value in values if isinstance(value, float)]
    return known if len(known) == len(values) else None


def _why_not_compared(a: Side, b: Side, name: str, *, few: bool) -> str:
    """Why a quantile cannot be compared; if known, how far one side's lower bound is above the other side."""
    found = {side.label: side.figure(name) for side in (a, b)}
    for (slower, bound), (faster, other) in permutations(found.items()):
        if bound.bound and bound.value and other.value and not other.bound and bound.value > other.value:
            times = f"{scale(bound.value / other.value, 'times').number(bound.value / other.value)} times"
            return (
                f"not all requests to {slower} were answered, so its {name} is only known to be at least "
                f"{times} that of {faster}"
            )
    if few:
        return f"too few requests: each side needs at least {FEW} beyond this quantile"
    notes = [e.note for e in found.values() if e.value is None and e.note]
    return notes[0] if notes else "not all requests were answered"


def _compared(
    metric: str,
    sides: tuple[Side, Side],
    cells: tuple[Estimate, Estimate],
    xs: Sequence[float],
    ys: Sequence[float],
    family: ComparisonFamily,
) -> Difference:
    """Compare one value per round on either side. The ratio decides if there is one, else the difference."""
    note, n, unit, p = _undecided(*sides), _rounds(*sides), cells[0].unit, None
    p_of_all: float | None = None
    log_error: float | None = None
    log_df: float | None = None
    paired, others = sides[0].run == sides[1].run, family.others
    usual = spread_of(family.usual(metric), within(*sides, metric)) if paired else None
    x, y = (_typical(values) for values in (xs, ys))
    if min(*xs, *ys) <= 0:
        usual, ratio = None, Estimate(y / x if x else None, unit="", n=n, note="zero in some round")
        parts = np.array(xs), np.array(ys)
    else:
        logs = np.log(xs), np.log(ys)
        rounds = tuple(np.exp(logs[1] - logs[0]).tolist()) if paired else ()
        ratio = Estimate(y / x, unit="", n=n, note=note, rounds=rounds)
        if paired and (apart := too_far_apart(rounds, "")):
            note = apart
            ratio = replace(ratio, value=None, note=note)
        elif not note:
            contrast = (
                against_first(*logs, others, family.errors.get(metric), family.confidence(n), usual)
                if paired
                else _of_runs(*logs)
            )
            ps = contrast.p, contrast.p_of_all
            p, p_of_all = (family.repeated(found, n) for found in ps) if paired else ps
            log_error, log_df = contrast.error, contrast.df
            ends = _exp(contrast.middle - contrast.half), _exp(contrast.middle + contrast.half)
            ratio = replace(ratio, low=ends[0], high=ends[1])
        parts = (
            x * logs[0],
            y * logs[1],
        )  # delta method: what a small change of the logarithm does to the value
    missing = next((cell.note for cell in cells if cell.value is None), "")
    if ratio.value is None and (note or missing):
        return _unknown(metric, *cells, note or missing)
    difference = Estimate(None if missing else y - x, unit=unit, n=n, note=missing or note)
    if not difference.note:
        middle = (x + y) / 2
        scaled = usual and usual.times(middle**2)
        half = _half(*parts, middle, others if paired else 0, family.confidence(n), scaled)
        difference = Estimate(y - x, y - x - half, y - x + half, unit, n=n)
    found = _found(metric, *cells, difference, ratio)
    return replace(found, p=p, p_of_all=p_of_all, log_error=log_error, log_df=log_df)


def _typical(values: Sequence[float]) -> float:
    return math.exp(float(np.log(values).mean())) if min(values) > 0 else float(np.mean(values))


def _half(
    xs: Floats, ys: Floats, scale: float, others: int, confidence: float, usual: Spread | None = None
) -> float:
    """Half of Student's interval for the difference of the means; never 0 unless `scale` is.

    `others`: how many are compared with the first, paired by round; 0 if rounds are not paired. `usual`: the
    spread of differences that is usual, if known.
    """
    resolution = RESOLUTION * scale
    if not others:
        se, df = welch(xs, ys, resolution)
        return student.quantile(df, (1 + CONFIDENCE) / 2) * se
    spread = moderated(Spread.of(ys - xs, resolution), usual)
    return own_limit(others, spread.df, confidence) * math.sqrt(spread.variance / len(xs))


def _of_runs(x: Floats, y: Floats) -> Contrast:
    """The contrast of independent runs, on the logarithmic scale."""
    se, df = welch(x, y, RESOLUTION)
    middle = float(y.mean() - x.mean())
    half = student.quantile(df, (1 + CONFIDENCE) / 2) * se
    p = 2 * student.cdf(df, -abs(middle) / se)
    return Contrast(middle, half, p, p, se, df)


def welch(x: Floats, y: Floats, min_sd: float) -> tuple[float, float]:
    """Standard error of the difference of two means, and its degrees of freedom."""
    parts = [max(float(np.var(v, ddof=1)), min_sd**2) / len(v) for v in (x, y)]
    total = sum(parts)
    if not total:  # no run differs from the others, as where none has errors
        return 0.0, math.inf
    df = total**2 / sum(part**2 / (len(v) - 1) for part, v in zip(parts, (x, y), strict=True))
    return math.sqrt(total), df


def compare_errors(a: Side, b: Side, family: ComparisonFamily = ALONE) -> Difference:
    """Compare the shares of failed requests. The interval spans those over requests and over rounds.

    The one over requests ignores how rounds differ; in the one over rounds, a few failures hardly differ from
    round to round, and yet prove little. Source of the first: Newcombe, Statistics in Medicine 17 (1998).
    """
    ours, theirs = map(_failed, (a, b))
    if ours.value is None or theirs.value is None:
        return _unknown("errors", ours, theirs, "no request came to an end")
    note, change = _undecided(a, b), theirs.value - ours.value
    difference = Estimate(change, unit="share", n=_rounds(a, b), note=note)
    if not note:
        xs, ys = np.array(ours.rounds), np.array(theirs.rounds)
        own = family.confidence(_rounds(a, b))
        half = _half(xs, ys, 0.0, family.others if a.run == b.run else 0, own)
        confidence = 1 - (1 - own) / family.others
        (k, n), (j, m) = ((sum(r.failed for r in side.rounds), e.n) for side, e in ((a, ours), (b, theirs)))
        low, high = difference_of_shares(k, n, j, m, confidence)
        low, high = min(low, change - half), max(high, change + half)
        difference = replace(difference, low=low, high=high)
    ratio = Estimate(theirs.value / ours.value if ours.value else None, unit="", n=_rounds(a, b))
    return _found("errors", ours, theirs, difference, ratio)


def _failed(side: Side) -> Estimate:
    """The share of failed requests of all rounds, and of each."""
    failed, ended = sum(r.failed for r in side.rounds), sum(r.failed + r.ok for r in side.rounds)
    shares = tuple(r.failed / max(1, r.failed + r.ok) for r in side.rounds)
    return Estimate(failed / ended if ended else None, unit="share", n=ended, rounds=shares)


def _unknown(metric: str, a: Estimate, b: Estimate, note: str) -> Difference:
    unknown = Estimate(None, unit=a.unit, note=note)
    return Difference(metric, a, b, unknown, replace(unknown, unit=""), "undecided", None, "")


def _found(metric: str, a: Estimate, b: Estimate, difference: Estimate, ratio: Estimate) -> Difference:
    finding, within = finding_of(ratio, difference)
    return Difference(metric, a, b, difference, ratio, finding, within, "")


def _exp(value: float) -> float:
    return math.exp(max(-700.0, min(700.0, value)))


def finding_of(ratio: Estimate, difference: Estimate) -> tuple[DifferenceFinding, float | None]:
    """How b compares with a, and the largest share by which they can still differ."""
    if ratio.low is None or ratio.high is None:
        return _side_of_zero(difference), None
    within = max(ratio.high - 1, 1 - ratio.low)
    return "same" if within <= SAME else _side_of_zero(
        replace(ratio, low=ratio.low - 1, high=ratio.high - 1)
    ), within


def _side_of_zero(interval: Estimate) -> DifferenceFinding:
    if interval.low is not None and interval.low > 0:
        return "more"
    if interval.high is not None and interval.high < 0:
        return "less"
    return "undecided"


def _cliffs_delta(a: Side, b: Side) -> Estimate:
    found = cliffs_delta(a.responses, b.responses, (a.drawn, b.drawn))
    note = _undecided(a, b) or (TWO_RUNS if a.run != b.run else "")
    return replace(found, low=None, high=None, note=note) if note and found.value is not None else found


def _shift(a: Side, b: Side) -> Shift:
    """Differences of the quantiles of all requests, with simultaneous bands from max |t|."""
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
        [d is not None and a.run == b.run and not _undecided(a, b) for d in differences],
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
    """The p-quantile of both; None if too few requests lie beyond it."""
    if not a.n or not b.n or (p > 0.5 and min(a.n, b.n) < samples_needed(p)):
        return None, None
    return product_limit(a).quantile(p), product_limit(b).quantile(p)


def _bands(ys: Floats, xs: Floats, known: Sequence[bool], rounds: int) -> list[float | None]:
    """Half-widths, shape (levels): all of them hold at once with the stated confidence.

    They come from the largest |t| over the levels, of resamples around their own mean, and are stretched for
    few rounds.
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
