"""Is b slower than a, faster, or neither? One test over the whole distribution, the errors and the cost.

Each metric is compared round by round on the logarithmic scale (Student's t, one-sided), and the evidence of
all is combined, so that the chance of a false alarm is that of the whole, however many metrics there are and
however they depend on one another. Half of it is for "slower" and half for "faster". Where a change lies is
said of those metrics that differ even after adjustment for all others (closed testing); the ordinary interval
of such a metric excludes equality, too.

A disturbance of the machine makes figures doubtful, but no side slower than the other: both are measured in
the same rounds, in random order. So a change that is found counts even if trials were invalid. That none is
found does not count then.

How often it is right: docs/explanation/how-often-right.md.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from jostle.analysis.compare.sides import welch
from jostle.analysis.results import Comparison, Decision, Difference, Estimate
from jostle.analysis.stats import student
from jostle.analysis.stats.binomial import cdf
from jostle.analysis.stats.combined import combined, each_adjusted
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.formatting import change, listed, percent, points
from jostle.plan.criteria.conditions import OverallChange
from jostle.record.verdict import Verdict

__all__ = ["TESTED", "Overall", "judge_overall"]

TESTED = ("throughput", "mean", "p50", "p75", "p90", "p95", "p99", "errors", "server cpu")
"""What is tested, if it was measured, and the throughput only if the plan does not prescribe it."""

SHOWN = ("p50", "p90", "p99")
"""These are shown where nothing was found."""

SHARED_BY_MANY = ("throughput", "p50", "p75", "p90")
"""How far these may have changed, rounds soon tell; a p99 is of a few requests in each round."""

MAX_SHOWN = 3
"""So many changes are shown with their intervals."""

UNKNOWN = Estimate(None, unit="ratio")

Shift = Literal["slower", "faster"]


@dataclass(frozen=True)
class Overall:
    """What one test over everything says of a change that must not be: "fail" if it surely is."""

    verdict: Decision
    message: str
    factor: Estimate = UNKNOWN
    """Of the metric that changed most surely, or, if nothing was found, of the one of `SHARED_BY_MANY` that
    may have changed most: more than 1 is a change in the unwanted direction."""


def judge_overall(c: Comparison, unwanted: OverallChange, comparisons: int = 1) -> Overall:
    """Whether `b` differs from `a` in an unwanted way: "pass" if no such change was found.

    It cannot be told with too few rounds or without valid figures, or if there is such a change, but maybe of
    no more than `unwanted.by`. `comparisons`: how many comparisons are judged together.
    """
    tested = [d for d in c.differences if d.metric in TESTED and _can_be_tested(d)]
    enough = c.earlier_runs > 0
    if c.paired or c.unit == "run":
        enough = min(c.rounds) >= MIN_ROUNDS
    if not enough or not tested:
        return Overall("undecided", c.sentence)
    level = (1 - c.confidence) / 2 / comparisons
    directions: tuple[Shift, ...] = ("slower", "faster")
    judged = [direction for direction in directions if unwanted.direction in (direction, "changed")]

    def found(direction: Shift, by: float) -> list[Difference]:
        """The metrics that changed in this way by more, the surest first; it alone if only all say so."""
        ps = [_p(d, direction, by, paired=c.paired) for d in tested]
        if combined(ps) > level:
            return []
        each = sorted(zip(each_adjusted(ps), tested, strict=True), key=lambda pair: pair[0])
        return [d for p, d in each if p <= max(level, each[0][0])]

    changed = {direction: those for direction in directions if (those := found(direction, 0.0))}
    if beyond := {direction: those for direction in judged if (those := found(direction, unwanted.by))}:
        direction, (surest, *_) = next(iter(beyond.items()))
        return Overall("fail", _sentence(c.b, beyond | changed), _factor(surest, direction))
    by_time = [
        (d, direction) for direction in judged for d in changed.get(direction, ()) if d.metric != "errors"
    ]
    factors = [_factor(d, direction) for d, direction in by_time]
    if unsettled := [factor for factor in factors if (factor.high or 0.0) > 1 + unwanted.by]:
        size = f"whether by more than {percent(unwanted.by)} is undecided"
        return Overall("undecided", f"{_sentence(c.b, changed)}; {size}", unsettled[0])
    found_out = [d for d in tested if d.metric in SHARED_BY_MANY and d.verdict is not Verdict.INVALID]
    factors = [_factor(d, direction) for direction in judged for d in found_out]
    if not factors:
        return Overall("undecided", c.sentence)
    shown = [d for d in tested if d.metric in SHOWN]
    said = _sentence(c.b, changed) if changed else f"no change was found: {_list(shown)}"
    if any(direction in changed for direction in judged):
        said += f"; that is by no more than {percent(unwanted.by)}"
    return Overall("pass", said, max(factors, key=lambda factor: factor.high or 0.0))


def _can_be_tested(d: Difference) -> bool:
    return bool(d.a.value or d.b.value) if d.metric == "errors" else d.log_error is not None


def _p(d: Difference, direction: Shift, by: float, *, paired: bool) -> float:
    """The chance of a change at least as large in this way if it is none, or just `by`. One-sided."""
    sign = _sign(d, direction)
    if d.metric == "errors":
        return _p_of_errors(d, sign, paired=paired)
    assert d.ratio.value is not None
    assert d.log_error is not None
    assert d.log_df is not None
    return student.cdf(d.log_df, (math.log1p(by) - sign * math.log(d.ratio.value)) / d.log_error)


def _p_of_errors(d: Difference, sign: int, *, paired: bool) -> float:
    """Errors are counts: a change must exceed what the requests alone explain, and how rounds differ."""
    k, j = (round((e.value or 0.0) * e.n) for e in (d.a, d.b))
    share = d.b.n / (d.a.n + d.b.n)
    of_requests = 1 - cdf(j - 1, k + j, share) if sign > 0 else cdf(j, k + j, share)
    x, y = (sign * np.array(e.rounds) for e in (d.a, d.b))
    middle = float(y.mean() - x.mean())
    error, df = welch(x, y, 0.0)
    if paired:
        error, df = float(np.std(y - x, ddof=1)) / math.sqrt(len(x)), len(x) - 1.0
    of_rounds = student.cdf(df, -middle / error) if error else float(middle <= 0)
    return max(of_requests, of_rounds)


def _sign(d: Difference, direction: Shift) -> int:
    """The sign of a change of this metric that is a change in this way."""
    return (-1 if d.metric == "throughput" else 1) * (1 if direction == "slower" else -1)


def _factor(d: Difference, direction: Shift) -> Estimate:
    """The ratio of the metric, or its inverse, so that more than 1 is a change in this way."""
    if d.metric == "errors" or _sign(d, direction) > 0:
        return replace(d.ratio, unit="ratio")
    value, low, high = (None if x is None else 1 / x for x in (d.ratio.value, d.ratio.high, d.ratio.low))
    return replace(UNKNOWN, value=value, low=low, high=high, rounds=tuple(1 / x for x in d.ratio.rounds))


def _sentence(b: str, found: Mapping[Shift, Sequence[Difference]]) -> str:
    """Where `b` changed and by how much: the largest changes with their intervals, all others by name."""
    parts = []
    for direction, differences in found.items():
        by_size = sorted(differences, key=lambda d: -(_factor(d, direction).value or math.inf))
        others = [_name(d) for d in _in_order(by_size[MAX_SHOWN:])]
        also = f"; also {listed(others)}" if others else ""
        parts.append(f"{direction}: {_list(by_size[:MAX_SHOWN])}{also}")
    return f"{b} is {'; '.join(parts)}"


def _list(differences: Iterable[Difference]) -> str:
    return ", ".join(map(_changed, _in_order(differences)))


def _in_order(differences: Iterable[Difference]) -> list[Difference]:
    return sorted(differences, key=lambda d: TESTED.index(d.metric))


def _changed(d: Difference) -> str:
    if d.metric == "errors":
        return f"{_name(d)} {points(d.difference.value or 0.0, d.difference.low, d.difference.high)}"
    return f"{_name(d)} {change(d.ratio.value or 1.0, d.ratio.low, d.ratio.high)}"


def _name(d: Difference) -> str:
    return "CPU per request" if d.metric == "server cpu" else d.metric
