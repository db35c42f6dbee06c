"""Figures over rounds.

The round is the unit of repetition: each trial starts its server anew, and a server settles at a different
level each time, so the requests of one trial never tell how the next one will turn out.

A quantile over rounds is that of a typical start: the geometric mean of the rounds' quantiles, with Student's
interval on their logarithms. Pooling the requests of all rounds would weight each round by the requests that
it served, and the intervals would miss too often if rounds differ (simulated: tests/oracles).
Source: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time (ISMM 2013): the top level is the unit.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jostle.analysis.results import Estimate
from jostle.analysis.stats import student
from jostle.analysis.stats.enough import MIN_ROUNDS, TOO_FEW_ROUNDS
from jostle.analysis.stats.kaplan_meier import known_part, restricted_mean
from jostle.analysis.stats.moderated import RESOLUTION, Spread, Usual, UsualOf, moderated, not_known
from jostle.analysis.stats.quantile_ci import (
    CONFIDENCE,
    largest_time,
    log_variance,
    quantile_estimate,
    samples_needed,
)
from jostle.analysis.stats.sample import WeightedSample, pool
from jostle.quantiles import LEVELS
from jostle.units import format_value

__all__ = [
    "AtLeast",
    "RoundValue",
    "all_requests",
    "bounded",
    "half_width",
    "mean_over_rounds",
    "number",
    "quantile_over_rounds",
    "quantiles_over_rounds",
    "ratio_of_rounds",
    "round_mean",
    "round_quantile",
    "too_far_apart",
    "typical_over_rounds",
    "why_not",
    "within_rounds",
]

TENFOLD = 10.0
"""If neighbouring values are further apart than this factor, the rounds fall into two groups and have no
meaningful mean. Comparing the largest with the smallest value instead would also reject rounds that merely
vary, and the intervals of the rest would miss in 10 to 12 % (sd 0.8, 10 and 20 rounds); with this rule they
miss in 5 to 6 %."""

ROUNDS_NAMED = 8


@dataclass(frozen=True)
class AtLeast:
    """The value is this or more."""

    value: float


RoundValue = float | AtLeast | None
"""The value of one round; None if it cannot be known."""


def number(value: RoundValue) -> float:
    """The value, or its lower bound. It must not be None."""
    assert value is not None
    return value.value if isinstance(value, AtLeast) else float(value)


def half_width(
    values: Sequence[float], scale: float, confidence: float = CONFIDENCE, usual: Spread | None = None
) -> float:
    """Half of Student's interval for the mean of at least two values; exact if they are normal.

    Never 0: rounds are not known more precisely than to `RESOLUTION` of `scale`. `usual`: the spread that is
    usual for such values, if that is known.
    """
    spread = moderated(Spread.of(values, RESOLUTION * abs(scale)), usual)
    return student.quantile(spread.df, (1 + confidence) / 2) * math.sqrt(spread.variance / len(values))


def too_far_apart(values: Sequence[RoundValue], unit: str) -> str:
    """Why values of at least 0 have no mean; "" if they have one, or if that is not known.

    It is not known if a round only bounds its value, which may then belong to the larger ones.
    """
    ordered = sorted(values, key=number)
    exact = itertools.takewhile(lambda pair: not isinstance(pair[0], AtLeast), itertools.pairwise(ordered))
    if all(number(above) <= TENFOLD * number(below) for below, above in exact):
        return ""
    shown = ", ".join(
        ("≥ " if isinstance(value, AtLeast) else "") + format_value(number(value), unit)
        for value in ordered[:ROUNDS_NAMED]
    )
    more = "" if len(values) <= ROUNDS_NAMED else ", …"
    return f"the rounds fall into two groups more than tenfold apart, so no mean is given: {shown}{more}"


def mean_over_rounds(values: Sequence[float], unit: str, confidence: float = CONFIDENCE) -> Estimate:
    """The mean of one value of at least 0 per round, with Student's interval."""
    n, rounds = len(values), tuple(map(float, values))
    if n == 0:
        return Estimate(None, unit=unit, note="nothing was measured")
    mean = float(np.mean(values))
    if n < MIN_ROUNDS:
        return Estimate(mean, unit=unit, n=n, note=TOO_FEW_ROUNDS, rounds=rounds)
    if max(values) == 0:
        return Estimate(0.0, unit=unit, n=n, note="it is 0 in every round", rounds=rounds)
    if note := too_far_apart(rounds, unit):
        return Estimate(None, unit=unit, n=n, note=note, rounds=rounds)
    half = half_width(values, mean, confidence)
    return Estimate(mean, max(0.0, mean - half), mean + half, unit, n=n, rounds=rounds)


def typical_over_rounds(
    values: Sequence[RoundValue], unit: str, confidence: float = CONFIDENCE, usual: Spread | None = None
) -> Estimate:
    """The geometric mean of one positive value per round, with Student's interval of the logarithm.

    "≥" if some round only bounds its value. `usual`: the spread of the logarithm that is usual, if known.
    """
    n = len(values)
    if n == 0 or any(value is None for value in values):
        return Estimate(None, unit=unit, n=n, note=why_not(values))
    numbers = [number(value) for value in values]
    if min(numbers) <= 0:
        return bounded(mean_over_rounds(numbers, unit, confidence), values)
    logs, rounds = np.log(numbers), tuple(numbers)
    middle = float(logs.mean())
    if n < MIN_ROUNDS:
        found = Estimate(math.exp(middle), unit=unit, n=n, note=TOO_FEW_ROUNDS, rounds=rounds)
    elif note := too_far_apart(values, unit):
        return Estimate(None, unit=unit, n=n, note=note, rounds=rounds)
    else:
        half = half_width(logs.tolist(), 1.0, confidence, usual)
        ends = math.exp(middle - half), math.exp(min(700.0, middle + half))
        found = Estimate(math.exp(middle), *ends, unit, n=n, rounds=rounds)
    return bounded(found, values)


def ratio_of_rounds(
    left: Sequence[RoundValue],
    right: Sequence[RoundValue],
    confidence: float = CONFIDENCE,
    usual: Spread | None = None,
) -> Estimate:
    """left/right round by round: the geometric mean, with Student's interval of the logarithm.

    Both in the same order of rounds. No value if either is 0 in some round, as 0 has no logarithm. `usual`:
    the spread of the ratio's logarithm that is usual, if known.
    """
    n = len(left)
    if n == 0:
        return Estimate(None, unit="", note="no round measured both")
    if any(v is None for v in (*left, *right)) or any(isinstance(v, AtLeast) for v in right):
        known: list[RoundValue] = [
            None if a is None or b is None else b for a, b in zip(left, right, strict=True)
        ]
        return Estimate(None, unit="", n=n, note=why_not(known))
    pairs = [(number(a), number(b)) for a, b in zip(left, right, strict=True)]
    if any(a <= 0 or b <= 0 for a, b in pairs):
        return Estimate(None, unit="", n=n, note="zero in some round")
    ratios: list[RoundValue] = [
        AtLeast(a / b) if isinstance(value, AtLeast) else a / b
        for value, (a, b) in zip(left, pairs, strict=True)
    ]
    return typical_over_rounds(ratios, "", confidence, usual)


def bounded(found: Estimate, values: Sequence[RoundValue]) -> Estimate:
    """`found`, marked with "≥" if any of the values is only a lower bound."""
    if not any(isinstance(value, AtLeast) for value in values):
        return found
    return replace(found, high=None, bound="≥", note="requests were given up before they were answered")


def why_not(values: Sequence[RoundValue]) -> str:
    """Why there is no figure over these rounds."""
    if not values:
        return "nothing was measured"
    missing = sum(value is None for value in values)
    if not missing:
        return "requests were given up before they were answered"
    return f"too few requests, or no measurement, in {missing} of {len(values)} rounds"


def round_quantile(sample: WeightedSample, p: float) -> RoundValue:
    """The p-quantile of one round; None if too few requests lie beyond it."""
    needed = samples_needed(p) if p > 0.5 else 1 if p == 0.5 else 1 / p
    if sample.n < needed or not len(sample.values_s):
        return None
    curve = known_part(sample)
    if not len(curve.cdf):
        return None
    value = curve.estimate(p, sample.n)
    return AtLeast(float(curve.values_s[-1])) if value is None else value


def round_mean(sample: WeightedSample) -> RoundValue:
    """The mean of one round; a lower bound if the longest times are not known."""
    if not sample.n_censored:
        return sample.mean_s
    if not len(sample.values_s):
        return None
    mean = restricted_mean(sample)
    return mean if known_part(sample).is_whole else AtLeast(mean)


def quantile_over_rounds(
    rounds: Sequence[WeightedSample],
    p: float,
    confidence: float = CONFIDENCE,
    tau_at: Callable[[float], float] = lambda _: 1.0,
    usual: Usual | None = None,
) -> Estimate:
    """The p-quantile (s) of a typical start.

    A single round only says what happened in it: its interval is over requests, corrected by their
    autocorrelation time (`tau_at`: that of "longer than this"). `usual`: the spread that rounds usually have.
    """
    if len(rounds) == 1:
        (sample,) = rounds
        value = known_part(sample).estimate(p, sample.n) if len(sample.values_s) else None
        found = quantile_estimate(sample, p, 1.0 if value is None else tau_at(value), confidence)
        return replace(found, this_run_only=True)
    if not any(sample.n for sample in rounds):
        return Estimate(None, note="nothing was measured")
    spread = None if usual is None else usual.spread(within_rounds(rounds, p))
    found = typical_over_rounds([round_quantile(sample, p) for sample in rounds], "s", confidence, spread)
    if found.value is None and p > 0.5 and not found.rounds:
        return replace(found, note=f"needs at least {samples_needed(p):,} requests in each round")
    return found


def within_rounds(rounds: Sequence[WeightedSample], p: float) -> float:
    """The variance of ln(p-quantile) within a round, because it has so few requests: the mean over rounds."""
    known = [variance for sample in rounds if (variance := log_variance(sample, p)) is not None]
    return float(np.mean(known)) if known else 0.0


def quantiles_over_rounds(
    rounds: Sequence[WeightedSample],
    tau_at: Callable[[float], float] = lambda _: 1.0,
    usual: UsualOf = not_known,
) -> dict[str, Estimate]:
    """The mean and all of `LEVELS` of a typical start, and "max", the largest time of all rounds.

    `usual`: the spread over rounds that is usual, by the quantile's name.
    """
    found = {
        name: quantile_over_rounds(rounds, p, tau_at=tau_at, usual=usual(name)) for name, p in LEVELS.items()
    }
    mean = typical_over_rounds([round_mean(sample) for sample in rounds], "s")
    return {"mean": mean, **found, "max": largest_time(pool(rounds))}


def all_requests(rounds: Sequence[WeightedSample]) -> dict[str, Estimate]:
    """Quantiles of the requests of all rounds together: a different figure, without an interval."""
    whole = pool(rounds)
    found: dict[str, Estimate] = {}
    for name, p in LEVELS.items():
        value = round_quantile(whole, p)
        bound = isinstance(value, AtLeast)
        found[name] = Estimate(
            None if value is None else number(value), bound="≥" if bound else "", n=whole.n
        )
    return found
