"""What the other cells of a run, and recorded runs, say of how much the few rounds of a cell vary."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from jostle.analysis.results import Estimate, RunResult
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from support.synthetic import Trial, closed, lognormal, make_run

LEVELS: dict[str, tuple[float, ...]] = {
    "a": (1.0, 1.05, 0.96),
    "b": (1.0, 0.95, 1.04),
    "c": (1.02, 1.0, 0.95),
    "d": (1.0, 0.96, 1.05),
}
"""Medians of the three rounds of each contestant, in 4 ms."""


def run_of(tmp_path: Path, levels: dict[str, tuple[float, ...]]) -> RunResult:
    trials = [
        Trial(name, "w", number, closed(lognormal(0.004 * level, 0.05), 2.0, seed=number))
        for name, rounds in levels.items()
        for number, level in enumerate(rounds, 1)
    ]
    return analyse(RunRecord.open(make_run(tmp_path, trials)))


def half(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return math.log(found.high / found.low) / 2


def student(found: Estimate) -> float:
    logs, n = np.log(found.rounds), len(found.rounds)
    return float(stats.t.ppf(0.975, n - 1) * logs.std(ddof=1) / math.sqrt(n))


def test_four_contestants_that_vary_alike_make_three_rounds_of_each_say_more(tmp_path: Path) -> None:
    for summary in run_of(tmp_path, LEVELS).summaries:
        for found in (summary.throughput, summary.response["p50"], summary.service["p50"]):
            assert half(found) < 0.7 * student(found)


def test_the_one_that_is_wilder_keeps_its_own(tmp_path: Path) -> None:
    result = run_of(tmp_path, {**LEVELS, "wild": (1.0, 2.0, 0.5)})
    wild = next(summary for summary in result.summaries if summary.contestant == "wild")
    assert half(wild.throughput) == pytest.approx(student(wild.throughput), rel=0.05)
    calm = next(summary for summary in result.summaries if summary.contestant == "a")
    assert half(calm.throughput) < student(calm.throughput)


def test_a_contestant_by_itself_has_the_recorded_spread_beside_its_own(tmp_path: Path) -> None:
    (alone,) = run_of(tmp_path, {"a": LEVELS["a"]}).summaries
    assert half(alone.throughput) < student(alone.throughput)


def test_comparisons_have_the_spread_of_all_differences_of_the_page(tmp_path: Path) -> None:
    trials = [
        Trial(name, f"w{workload}", number, closed(lognormal(0.004 * level, 0.05), 1.0, seed=number))
        for workload in range(4)
        for name in "ab"
        for number, level in enumerate(LEVELS[name], 1)
    ]
    result = analyse(RunRecord.open(make_run(tmp_path, trials)))
    assert len(result.comparisons) == 4
    for comparison in result.comparisons:
        (rate,) = [d for d in comparison.differences if d.metric == "throughput"]
        assert half(rate.ratio) < 0.7 * student(rate.ratio)
