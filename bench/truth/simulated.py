"""Rounds of known truth, put through the functions that a report uses.

A round settles at a level of its own, which all contestants share (sd 0.2), and each contestant differs
from it by an sd of its own. 2,000 requests a round; times are lognormal (sigma 0.4) around the round's level.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from jostle.analysis.compare.family import family_of, usual_differences
from jostle.analysis.compare.page import beyond_chance
from jostle.analysis.compare.sides import compare_errors, compare_sides
from jostle.analysis.metrics import error_share
from jostle.analysis.results import Estimate
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.analysis.stats.indices import blocking_index, starvation_index
from jostle.analysis.stats.many_to_one import against_first
from jostle.analysis.stats.moderated import TYPICAL_SD, Spread, typical
from jostle.analysis.stats.over_rounds import typical_over_rounds
from support.sides import known_side

ROUNDS = (2, 3, 5, 10, 20)
SDS = (0.0, 0.03, 0.1, 0.3, 0.8)
CHANGES = (0.0, 0.02, 0.05, 0.1, 0.2)
PAGES = ((2, 1), (2, 4), (3, 2), (4, 3), (4, 6), (7, 4))
METRICS = ("throughput", "p50", "p90", "p99")
REQUESTS = 2000
SHARED, SIGMA = 0.2, 0.4
FAILING = 0.01

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """Shares of all cases: intervals that were shown, of those that missed, and findings by true change."""

    metric: str
    rounds: int
    sd: float
    shown: float
    missed: float
    found: Mapping[float, float]  # where nothing differs: false alarms


def quantile_noise(rng: np.random.Generator, p: float, shape: tuple[int, ...]) -> Floats:
    """ln of the p-quantile as `Curve.estimate` has it of so many requests over that of all.

    An order statistic is a beta variate, and so is the part of what is above it that lies below the next.
    """
    position = p * REQUESTS + 0.5
    rank = math.floor(position)
    below = rng.beta(rank, REQUESTS + 1 - rank, shape)
    above = below + (1 - below) * rng.beta(1, REQUESTS - rank, shape)
    share = position - rank
    value = (1 - share) * np.exp(SIGMA * ndtri(below)) + share * np.exp(SIGMA * ndtri(above))
    return np.asarray(np.log(value)) - SIGMA * float(ndtri(p))


NOISE: Mapping[str, Callable[[np.random.Generator, tuple[int, ...]], Floats]] = {
    "throughput": lambda rng, shape: rng.normal(0, 1 / math.sqrt(REQUESTS), shape),
    "p50": lambda rng, shape: quantile_noise(rng, 0.5, shape),
    "p99": lambda rng, shape: quantile_noise(rng, 0.99, shape),
}


def logs(rng: np.random.Generator, metric: str, sides: int, rounds: int, sd: float) -> Floats:
    """ln(value) of each side in each round; a typical start is at 0."""
    level = rng.normal(0, SHARED, rounds)
    return level + rng.normal(0, sd, (sides, rounds)) + NOISE[metric](rng, (sides, rounds))


def usual_of(metric: str, sides: int) -> Spread:
    """What is usual where a run tells nothing of it, for the value of a side or the difference of two."""
    noise = NOISE[metric](np.random.default_rng(1), (9999,))
    within = 0.0 if metric == "throughput" else float(np.var(noise))
    return typical(TYPICAL_SD[metric] * math.sqrt(sides), within * sides)


def missed(found: Estimate, truth: float) -> bool | None:
    """None where no interval is shown."""
    if found.low is None or found.high is None:
        return None
    return not found.low <= truth <= found.high


def rates(outcomes: list[bool | None]) -> tuple[float, float]:
    """Which part was shown, and which part of that is true."""
    shown = [outcome for outcome in outcomes if outcome is not None]
    return len(shown) / len(outcomes), sum(shown) / len(shown) if shown else math.nan


def measured(rng: np.random.Generator, metric: str, rounds: int, sd: float, cases: int) -> Rates:
    """A throughput or a quantile: its own interval, and two contestants paired by round."""
    own, usual = [], usual_of(metric, 1)
    for _ in range(cases):
        values = np.exp(rng.normal(0, sd, rounds) + NOISE[metric](rng, (rounds,)))
        own.append(missed(typical_over_rounds(values.tolist(), "s", usual=usual), 1.0))
    usual = usual_of(metric, 2)
    found = {}
    for change in CHANGES:
        hits = 0
        for _ in range(cases if rounds > 2 else 1):
            x, y = logs(rng, metric, 2, rounds, sd)
            contrast = against_first(x, y + math.log1p(change), 1, None, usual=usual)
            hits += rounds > 2 and abs(contrast.middle) > contrast.half
        found[change] = hits / cases
    return Rates(metric, rounds, sd, *rates(own), found)


def errors(rng: np.random.Generator, rounds: int, sd: float, cases: int) -> Rates:
    """One request in a hundred fails on average, in each round at a rate of its own."""

    def failed(change: float) -> list[int]:
        share = FAILING * (1 + change) * np.exp(rng.normal(0, sd, rounds) - sd * sd / 2)
        return [int(k) for k in rng.binomial(REQUESTS, np.minimum(1, share))]

    own = []
    for _ in range(cases):
        trials = [SimpleNamespace(errors={"": k}, ok=lambda k=k: REQUESTS - k) for k in failed(0.0)]
        over_rounds = rounds >= MIN_ROUNDS  # of fewer the interval is of these requests, and says so
        own.append(missed(error_share(trials), FAILING) if over_rounds else None)  # type: ignore[arg-type]
    found = {}
    template = known_side("a", {"throughput": np.ones(rounds)})
    for change in CHANGES:
        hits = 0
        for _ in range(cases):
            sides = []
            for of in (0.0, change):
                pairs = zip(template.rounds, failed(of), strict=True)
                sides.append(
                    replace(template, rounds=[replace(r, ok=REQUESTS - k, failed=k) for r, k in pairs])
                )
            hits += compare_errors(*sides).finding in ("less", "more")
        found[change] = hits / cases
    return Rates("errors", rounds, sd, *rates(own), found)


def indices(rng: np.random.Generator, rounds: int, sd: float, cases: int) -> list[Rates]:
    """Half, a twentieth and nearly all of the throughput left; a p99 that grows by half of the slow
    request."""
    cells = []
    for left in (0.9, 0.5, 0.05):
        own = []
        for _ in range(cases):
            x, y = logs(rng, "throughput", 2, rounds, sd)
            own.append(missed(starvation_index((left * np.exp(y - x)).tolist()), 1 - left))
        cells.append(Rates(f"starvation index {1 - left:.2g}", rounds, sd, *rates(own), {}))
    own = []
    for _ in range(cases):
        x, y = 0.01 * np.exp(logs(rng, "p99", 2, rounds, sd)) * np.array([[1.0], [6.0]])
        slow = typical_over_rounds((0.1 * np.exp(logs(rng, "throughput", 1, rounds, sd)[0])).tolist(), "s")
        known = slow.value is not None
        own.append(missed(blocking_index(x.tolist(), y.tolist(), slow), 0.5) if known else None)
    cells.append(Rates("blocking index 0.5", rounds, sd, *rates(own), {}))
    return cells


@dataclass(frozen=True)
class PageRates:
    """Findings per page where nothing differs, and the share found of contestants that differ by a fifth."""

    contestants: int
    workloads: int
    differences: int
    false: float
    unguarded: float  # by Student's test of each pair
    found: float
    unguarded_found: float


def page(rng: np.random.Generator, contestants: int, workloads: int, change: float) -> tuple[int, int, int]:
    """Differences, findings, and findings by Student's test of each pair; five rounds, sd 0.1."""
    families, alone = [], 0
    for number in range(workloads):
        level, sides, rows = rng.normal(0, SHARED, 5), [], []
        for contestant in range(contestants):
            shared = rng.normal(0, 0.077, 5)  # metrics of one contestant correlate by 0.6
            effect = math.log1p(change) if contestant else 0.0
            own = {q: level + shared + rng.normal(0, 0.063, 5) + effect for q in METRICS}
            rows.append(own)
            values = {q: np.exp(v) for q, v in own.items()}
            sides.append(known_side(f"c{contestant}", values, workload=f"w{number}"))
        families.append(sides)
        for other in rows[1:]:
            contrasts = [against_first(rows[0][q], other[q], 1, None) for q in METRICS]
            alone += sum(abs(c.middle) > c.half for c in contrasts)
    usual = usual_differences([(sides[0], other) for sides in families for other in sides[1:]])
    comparisons = [
        replace(compare_sides(sides[0], other, family_of(sides, usual=usual)), primary="throughput")
        for sides in families
        for other in sides[1:]
    ]
    told = sum(d.finding in ("less", "more") for c in beyond_chance(comparisons) for d in c.differences)
    return len(comparisons) * len(METRICS), told, alone


def pages(rng: np.random.Generator, cases: int) -> list[PageRates]:
    cells = []
    for contestants, workloads in PAGES:
        equal = [page(rng, contestants, workloads, 0.0) for _ in range(cases)]
        apart = [page(rng, contestants, workloads, 0.2) for _ in range(max(1, cases // 4))]
        n = equal[0][0]
        (false, alone), (found, found_alone) = (
            (float(np.mean([p[1] for p in some])), float(np.mean([p[2] for p in some])))
            for some in (equal, apart)
        )
        cells.append(PageRates(contestants, workloads, n, false, alone, found / n, found_alone / n))
    return cells


def all_cells(seed: int, cases: int) -> list[Rates]:
    rng = np.random.default_rng(seed)
    cells = []
    for rounds in ROUNDS:
        for sd in SDS:
            cells += [measured(rng, metric, rounds, sd, cases) for metric in NOISE]
            cells.append(errors(rng, rounds, sd, max(1, cases // 2)))
            cells += indices(rng, rounds, sd, cases)
    return cells
