"""What is usual, beside the few rounds of a cell: coverage, width and power by simulation, and on records.

Cells of known spread, put through `fitted` and `moderated` as a report does. The true value is 0.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from jostle.analysis.stats.many_to_one import against_first
from jostle.analysis.stats.moderated import TYPICAL_SD, Spread, Usual, fitted, moderated, typical
from jostle.analysis.stats.power import detectable

ROUNDS = (2, 3, 5, 10, 20)
RECORDS = Path(__file__).parents[2] / "docs" / "results" / "results.json"
RECORDED = ("throughput", "server cpu", "p50", "p90", "p99", "p99.9")
USUAL = TYPICAL_SD["p99"]

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Floats]
"""ln(value) of each cell in each round, from the number of cells and of rounds."""


def _alike(sd: float) -> Draw:
    return lambda rng, cells, rounds: rng.normal(0, sd, (cells, rounds))


def _spread_out(rng: np.random.Generator, cells: int, rounds: int) -> Floats:
    sd = np.exp(np.linspace(math.log(0.02), math.log(0.15), cells))
    return np.asarray(rng.normal(0, 1, (cells, rounds)) * sd[:, None])


def _one_wild(times: float) -> Draw:
    def draw(rng: np.random.Generator, cells: int, rounds: int) -> Floats:
        logs = rng.normal(0, 0.05, (cells, rounds))
        logs[0] *= times
        return logs

    return draw


def _two_modes(rng: np.random.Generator, cells: int, rounds: int) -> Floats:
    """A third of the rounds is slower by a quarter."""
    slow = rng.random((cells, rounds)) < 1 / 3
    return np.asarray(rng.normal(0, 0.03, (cells, rounds)) + math.log(1.25) * (slow - 1 / 3))


def _drifting(rng: np.random.Generator, cells: int, rounds: int) -> Floats:
    """Each round resembles the one before: a correlation of 0.2."""
    logs = rng.normal(0, 0.1, (cells, rounds))
    for number in range(1, rounds):
        logs[:, number] = 0.2 * logs[:, number - 1] + math.sqrt(1 - 0.04) * logs[:, number]
    return logs


CASES: Mapping[str, tuple[int, float, Draw]] = {
    "1 cell, sd as recorded": (1, 0.0, _alike(USUAL)),
    "1 cell, a third of that": (1, 0.0, _alike(USUAL / 3)),
    "1 cell, three times that": (1, 0.0, _alike(3 * USUAL)),
    "1 cell, ten times that": (1, 0.0, _alike(10 * USUAL)),
    "1 cell, few requests explain as much again": (1, USUAL**2, _alike(math.sqrt(2) * USUAL)),
    "1 cell, autocorrelated requests explain twice that": (1, USUAL**2, _alike(math.sqrt(3) * USUAL)),
    "2 cells alike": (2, 0.0, _alike(0.1)),
    "4 cells alike": (4, 0.0, _alike(0.1)),
    "24 cells alike": (24, 0.0, _alike(0.1)),
    "24 cells, sd 0.02 to 0.15": (24, 0.0, _spread_out),
    "8 cells, one varies 3 times as much": (8, 0.0, _one_wild(3)),
    "24 cells, one varies 10 times as much": (24, 0.0, _one_wild(10)),
    "8 cells with two modes": (8, 0.0, _two_modes),
    "8 cells, rounds correlated by 0.2": (8, 0.0, _drifting),
}
"""Number of cells, the known variance within a round, and how they vary."""


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold the truth: over all cells, and of the cell in which fewest do.

    `half` is the median half-width, as a factor minus 1, and `student` that of Student's interval.
    """

    case: str
    rounds: int
    held: float
    worst: float
    half: float
    student: float


def coverage(rng: np.random.Generator, case: str, rounds: int, repeats: int) -> Coverage:
    cells, within, draw = CASES[case]
    held, halves, own_halves = [], [], []
    for _ in range(repeats):
        logs = draw(rng, cells, rounds)
        own = [Spread.of(row) for row in logs]
        expected = typical(USUAL, within).variance
        usual = Usual(USUAL, fitted([one.times(1 / expected) for one in own])).spread(within)
        half = np.array([_half(moderated(one, usual), rounds) for one in own])
        held.append(np.abs(logs.mean(axis=1)) <= half)
        halves.append(half)
        own_halves.append([_half(one, rounds) for one in own])
    of_cells = np.mean(held, axis=0)
    return Coverage(
        case,
        rounds,
        float(np.mean(of_cells)),
        float(np.min(of_cells)),
        math.expm1(float(np.median(halves))),
        math.expm1(float(np.median(own_halves))),
    )


def _half(spread: Spread, rounds: int) -> float:
    return float(stdtrit(spread.df, 0.975)) * math.sqrt(spread.variance / rounds)


def coverages(seed: int, repeats: int) -> list[Coverage]:
    rng = np.random.default_rng(seed)
    return [coverage(rng, case, rounds, repeats) for case in CASES for rounds in ROUNDS]


@dataclass(frozen=True)
class Promise:
    """What `jostle check` promises for two contestants, and how often it is kept."""

    metric: str
    rounds: int
    change: float
    found: float
    false_alarms: float


def promises(seed: int, repeats: int) -> list[Promise]:
    rng, kept = np.random.default_rng(seed), []
    for metric in ("throughput", "p50", "p99"):
        for rounds in (3, 5, 10):
            sd = TYPICAL_SD[metric]
            change = detectable(rounds, sd)
            assert change is not None
            shares = [_found(rng, sd, rounds, by, repeats) for by in (change, 0.0)]
            kept.append(Promise(metric, rounds, change, *shares))
    return kept


def _found(rng: np.random.Generator, sd: float, rounds: int, change: float, repeats: int) -> float:
    found, usual = 0, typical(math.sqrt(2) * sd)
    for _ in range(repeats):
        first, other = rng.normal(0, sd, (2, rounds))
        contrast = against_first(first, other + math.log1p(change), 1, None, usual=usual)
        found += abs(contrast.middle) > contrast.half
    return found / repeats


@dataclass(frozen=True)
class Recorded:
    """The valid cells of docs/results with three rounds or more, and what is assumed of such.

    `held`: by number of rounds, the share of cells in which these predict another round, at 95 %.
    """

    metric: str
    cells: int
    median: float
    assumed: float
    held: Mapping[int, float]


def recorded() -> list[Recorded]:
    """From the committed results, without simulation."""
    summaries = [
        summary
        for experiment in json.loads(RECORDS.read_text(encoding="utf-8"))["experiments"]
        for summary in experiment["result"]["summaries"]
        if summary["verdict"] == "valid"
    ]
    return [_recorded(metric, list(_cells(metric, summaries))) for metric in RECORDED]


def _cells(metric: str, summaries: Sequence[Mapping[str, dict[str, dict[str, object]]]]) -> Iterator[Floats]:
    for summary in summaries:
        names = {"throughput": "throughput", "server cpu": "server_cpu_s_per_request"}
        found = summary[names[metric]] if metric in names else summary["response"].get(metric, {})
        rounds = np.array(found.get("rounds", ()), dtype=float)
        if len(rounds) > 2 and rounds.min() > 0 and not found["bound"]:
            yield np.log(rounds)


def _recorded(metric: str, cells: Sequence[Floats]) -> Recorded:
    sd = TYPICAL_SD[metric]
    held = {rounds: float(np.mean([_predicts(logs[:4], rounds, sd) for logs in cells])) for rounds in (1, 2)}
    median = float(np.median([logs.std(ddof=1) for logs in cells]))
    return Recorded(metric, len(cells), median, sd, held)


def _predicts(logs: Floats, rounds: int, sd: float) -> float:
    """How often some rounds of a cell predict another one of it."""
    hits = []
    for *before, then in permutations(logs.tolist(), rounds + 1):
        spread = moderated(Spread.of(before), typical(sd))
        reach = float(stdtrit(spread.df, 0.975)) * math.sqrt(spread.variance * (1 + 1 / rounds))
        hits.append(abs(then - float(np.mean(before))) <= reach)
    return float(np.mean(hits))
