"""How often `--fail-if slower` cries where nothing differs, and how often it finds what was planted.

Each trial has requests of its own: lognormal times (4 ms, sigma 0.4), all of them longer or shorter by what
the round does to both sides (sd 10 %) and by what this start of the server does (*own* sd), and on a busy
machine a share of them stalls. The analysis sees the quantiles of these requests and the CPU per request.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from jostle.analysis.compare.overall import judge_overall
from jostle.analysis.results import Comparison, Difference, Estimate, Shift
from jostle.analysis.stats.enough import FIRST_ROUNDS
from jostle.analysis.stats.many_to_one import against_first
from jostle.analysis.stats.moderated import TYPICAL_SD, Spread, Usual
from jostle.analysis.stats.quantile_ci import CONFIDENCE
from jostle.analysis.stats.sequential import ConfidenceRule, fixed, repeated_looks
from jostle.plan.criteria.conditions import OverallChange, change
from jostle.quantiles import NAMED
from jostle.record.verdict import Verdict

ROUNDS = (3, 5, 10)
MACHINES: Mapping[str, tuple[float, float]] = {
    "quiet": (0.01, 0.0),
    "ordinary": (0.04, 0.01),
    "busy": (0.1, 0.03),
}
"""The own sd of a start, and the mean share of requests that stall."""
PLANTED = ("nothing", "+5 ms in 10 %", "+3 %")
FURTHER = 22
"""Rounds of the documents' recipe in five minutes."""
REQUESTS, MEDIAN_S, SIGMA, SHARED, STALL_S = 500, 0.004, 0.4, 0.1, 0.03
QUANTILES = {name: NAMED[name] for name in ("p50", "p75", "p90", "p95", "p99")}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GateRates:
    """Shares of all cases. `rounds`: 0 stands for "until decided, within five minutes"."""

    machine: str
    rounds: int
    planted: str
    slower: float
    changed: float
    rounds_taken: float  # the median, of those in which it was found


def trials(rng: np.random.Generator, level: Floats, machine: str, planted: str) -> dict[str, Floats]:
    """What is measured of one side in each round, in logarithms."""
    own, stalling = MACHINES[machine]
    shift = level + rng.normal(0, own, level.shape) + (math.log(1.03) if planted == "+3 %" else 0.0)
    noise = SIGMA * rng.standard_normal((*level.shape, REQUESTS), dtype=np.float32)
    times = MEDIAN_S * np.exp(shift[..., None] + noise)
    if planted == "+5 ms in 10 %":
        times += 0.005 * (rng.random(times.shape, dtype=np.float32) < 0.1)
    if stalling:
        share = rng.gamma(0.5, 2 * stalling, (*level.shape, 1))
        stalled = rng.random(times.shape, dtype=np.float32) < share
        times += stalled * rng.random(times.shape, dtype=np.float32) * rng.exponential(STALL_S, share.shape)
    logs = np.log(np.quantile(times, list(QUANTILES.values()), axis=-1))
    cost = math.log(1.03) if planted == "+3 %" else 0.0
    cpu = cost + (shift - cost) / 2 + rng.normal(0, 0.02, level.shape)
    own_figures = {"mean": np.log(times.mean(axis=-1)), "server cpu": cpu}
    return {**dict(zip(QUANTILES, logs, strict=True)), **own_figures}


def usual(metric: str) -> Spread | None:
    """The spread of differences that is usual, as for the only two contestants of a run."""
    if metric not in QUANTILES:
        return None
    p = QUANTILES[metric]
    density = math.exp(-(float(ndtri(p)) ** 2) / 2) / math.sqrt(2 * math.pi) / SIGMA
    within = p * (1 - p) / REQUESTS / density**2
    return Usual(TYPICAL_SD[metric] * math.sqrt(2)).spread(2 * within)


def difference(metric: str, a: Floats, b: Floats) -> Difference:
    contrast = against_first(a, b, 1, None, usual=usual(metric))
    side, ratio = Estimate(1.0), Estimate(math.exp(contrast.middle))
    found = Difference(metric, side, side, Estimate(None), ratio, "undecided", None, "")
    return replace(found, log_error=contrast.error, log_df=contrast.df)


def comparison(a: Mapping[str, Floats], b: Mapping[str, Floats], level: ConfidenceRule) -> Comparison:
    """The comparison of one case, whose rounds these are."""
    rounds = len(next(iter(a.values())))
    differences = [difference(name, a[name], b[name]) for name in a]
    return Comparison(
        "w", "", "a", "b", (rounds, rounds), True, Verdict.VALID, differences, Estimate(None), Shift(), "",
        confidence=level(CONFIDENCE, rounds),
    )  # fmt: skip


def found(
    a: Mapping[str, Floats], b: Mapping[str, Floats], condition: str, level: ConfidenceRule = fixed
) -> bool:
    asked = change(condition)
    assert isinstance(asked, OverallChange)
    return judge_overall(comparison(a, b, level), asked).verdict == "fail"


def of_case(sides: tuple[Mapping[str, Floats], Mapping[str, Floats]], case: int, rounds: int) -> tuple[
    dict[str, Floats], dict[str, Floats]
]:  # fmt: skip
    a, b = ({name: logs[case, :rounds] for name, logs in side.items()} for side in sides)
    return a, b


def at_once(rng: np.random.Generator, machine: str, planted: str, cases: int) -> list[GateRates]:
    """Rates for each number of rounds that is fixed beforehand."""
    level = rng.normal(0, SHARED, (cases, max(ROUNDS)))
    sides = trials(rng, level, machine, "nothing"), trials(rng, level, machine, planted)
    cells = []
    for rounds in ROUNDS:
        each = [of_case(sides, case, rounds) for case in range(cases)]
        slower, changed = (np.mean([found(*pair, word) for pair in each]) for word in ("slower", "changed"))
        cells.append(GateRates(machine, rounds, planted, float(slower), float(changed), rounds))
    return cells


def until_decided(rng: np.random.Generator, machine: str, planted: str, cases: int) -> GateRates:
    """Rates with a look after each round."""
    level = rng.normal(0, SHARED, (cases, FURTHER))
    sides = trials(rng, level, machine, "nothing"), trials(rng, level, machine, planted)

    def first(case: int, word: str) -> int | None:
        looks = range(FIRST_ROUNDS, FURTHER + 1)
        return next((n for n in looks if found(*of_case(sides, case, n), word, repeated_looks)), None)

    slower = [first(case, "slower") for case in range(cases)]
    taken = [n for n in slower if n is not None]
    changed = sum(first(case, "changed") is not None for case in range(cases)) if planted == "nothing" else 0
    middle = float(np.median(taken)) if taken else math.nan
    return GateRates(machine, 0, planted, len(taken) / cases, changed / cases, middle)


def all_cells(seed: int, cases: int) -> list[GateRates]:
    rng = np.random.default_rng(seed)
    cells: list[GateRates] = []
    for machine in MACHINES:
        for planted in PLANTED:
            cells += at_once(rng, machine, planted, cases)
            cells.append(until_decided(rng, machine, planted, max(1, cases // 4)))
    return cells


def markdown(cells: Sequence[GateRates], cases: int) -> str:
    """A row for each machine and what was planted."""
    columns = [f"{rounds} rounds" for rounds in ROUNDS]
    lines = [
        "How often `--fail-if slower` fails, in percent; where nothing was planted, in brackets, how often "
        f"`--fail-if changed` does ({cases:,} cases each). The last column is `--until-decided` for at most "
        f"{FURTHER} rounds, and the median number of rounds after which it was found.",
        "",
        f"| machine | planted | {' | '.join(columns)} | until decided |",
        "|---|---" + "|---" * (len(ROUNDS) + 1) + "|",
    ]
    by = {(c.machine, c.planted, c.rounds): c for c in cells}
    for machine in MACHINES:
        for planted in PLANTED:
            row = [_rates(by[machine, planted, rounds]) for rounds in (*ROUNDS, 0)]
            lines.append(f"| {machine} | {planted} | {' | '.join(row)} |")
    return "\n".join(lines)


def broken(cells: Sequence[GateRates], cases: int) -> list[str]:
    """False alarms that are not 5 ± 1.5 %, by more than chance explains (three standard errors)."""
    found = []
    for c in cells:
        some = cases if c.rounds else max(1, cases // 4)
        slack = 0.015 + 3 * math.sqrt(0.05 * 0.95 / some)
        if c.planted == "nothing" and abs(c.changed - 0.05) > slack:
            found.append(f"gate, {c.machine} machine, {c.rounds or 'until decided'}: {c.changed:.1%} alarms")
    return found


def _rates(c: GateRates) -> str:
    if c.planted == "nothing":
        return f"{100 * c.slower:.1f} ({100 * c.changed:.1f})"
    after = "" if c.rounds or math.isnan(c.rounds_taken) else f" (after {c.rounds_taken:g})"
    return f"{100 * c.slower:.0f}{after}"
