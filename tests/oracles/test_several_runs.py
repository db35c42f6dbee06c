"""Three runs or more on each side: the run is the unit, and what varies from run to run makes no finding."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import jostle
from jostle.analysis.compare.several import compare_several
from jostle.analysis.compare.side import Side, WholeRun
from jostle.analysis.compare.sides import compare_sides
from jostle.analysis.results.keys import Key
from jostle.analysis.trials.data import TrialData
from jostle.errors import PlanError
from jostle.quantiles import COMPARED
from jostle.record.verdict import Verdict
from support.sides import known_side
from support.synthetic import Request, Trial, closed, lognormal, make_run


def runs(rng: np.random.Generator, name: str, count: int, change: float = 0.0) -> Side:
    """Runs differ by 15 %, as on a shared machine, the five rounds of a run by 3 %."""
    found = []
    for number in range(count):
        level = rng.normal(0, 0.15) + math.log1p(change)
        values: dict[str, NDArray[np.float64]] = {
            q: np.exp(level + rng.normal(0, 0.03, 5)) for q in ("throughput", "p50", "p90", "p99")
        }
        found.append(WholeRun.of_rounds(number, known_side(name, values).rounds))
    return Side(name, known_side(name, {"throughput": np.ones(1)}).summary, found, name, of_runs=True)


@pytest.mark.parametrize("count", [3, 6])
def test_what_varies_from_run_to_run_is_no_finding(count: int) -> None:
    """Two runs of the same server differed "surely" in 44 % of all cases on this machine."""
    rng = np.random.default_rng(count)
    cases, alarms = 60, 0
    for _ in range(cases):
        found = compare_sides(runs(rng, "a", count), runs(rng, "b", count))
        (throughput,) = [d for d in found.differences if d.metric == "throughput"]
        assert throughput.ratio.low is not None
        alarms += throughput.finding in ("less", "more")
    assert alarms <= int(stats.binom(cases, 0.05).ppf(0.999))


def test_what_is_larger_than_that_is_found() -> None:
    rng = np.random.default_rng(1)
    found = compare_sides(runs(rng, "a", 5), runs(rng, "b", 5, change=1.0))
    assert "more" in {d.finding for d in found.differences if d.metric == "throughput"}
    assert found.sentence.startswith("b against a: throughput higher (+")


def single(rounds: list[list[float]], name: str, metric: str) -> Side:
    """One run for each list; each round responses in the time given, or has that throughput."""
    found = []
    for number, values in enumerate(rounds):
        known = {q: np.ones(len(values)) for q in ("throughput", *COMPARED)}
        known[metric] = np.array(values)
        found.append(WholeRun.of_rounds(number, known_side(name, known).rounds))
    return Side(name, known_side(name, {"throughput": np.ones(1)}).summary, found, name, of_runs=True)


def test_a_run_whose_rounds_are_far_apart_has_no_throughput_and_not_zero() -> None:
    a = single([[100, 110, 2000], [100, 100, 101], [99, 100, 98]], "a", "throughput")
    assert a.values("throughput")[0] is None
    found = compare_sides(a, single([[100, 100, 100]] * 3, "b", "throughput"))
    (throughput,) = [d for d in found.differences if d.metric == "throughput"]
    assert (throughput.finding, throughput.difference.low, throughput.ratio.value) == (
        "undecided",
        None,
        None,
    )


def test_a_quantile_that_is_only_bounded_is_not_compared_as_if_it_were_exact(tmp_path: Path) -> None:
    """2 of 100 requests are given up after 5 s: the p99 is at least that."""
    folders = []
    for number in range(6):
        times = [0.002] * 392 + ([5.0] * 8 if number < 3 else [0.003] * 8)
        starts = [0.005 * k for k in range(400)]
        requests = [
            Request(at, at, at + took, "response_timeout" if took == 5.0 else "ok", client=k)
            for k, (at, took) in enumerate(zip(starts, times, strict=True))
        ]
        load = {"closed": {"clients": 400}}
        trials = [Trial("go", "w", r, requests, 8.0, load=load) for r in range(1, 7)]
        folders.append(make_run(tmp_path, trials, slug=f"run-{number}"))
    (comparison,) = jostle.compare(folders[:3], folders[3:]).result.comparisons
    (p99,) = [d for d in comparison.differences if d.metric == "p99"]
    assert (p99.finding, p99.ratio.low, p99.a.bound) == ("undecided", None, "≥")


def test_the_worst_run_decides_whether_a_figure_can_be_trusted() -> None:
    grouped: Mapping[Key, list[TrialData]] = {("go", "w"): []}
    cell = known_side("go", {"throughput": np.ones(1)}).summary
    figures = {"throughput": Verdict.VALID, "p99": Verdict.INVALID}
    late = replace(cell, verdict=Verdict.SUSPECT, verdicts=figures)
    runs = [(grouped, {("go", "w"): summary}) for summary in (cell, late, cell)]
    (comparison,) = compare_several(runs, runs).comparisons
    verdicts = {d.metric: d.verdict for d in comparison.differences}
    assert (verdicts["p99"], verdicts["throughput"]) == (Verdict.INVALID, Verdict.VALID)
    assert comparison.sentence.endswith("needs at least 3 runs on each side that measured something.")


def test_runs_on_disk_are_compared_with_runs(tmp_path: Path) -> None:
    folders = []
    for number in range(6):
        median = 0.002 * (1 + number / 50) * (1 if number < 3 else 2)
        trials = [
            Trial("go", "w", r, closed(lognormal(median, 0.1), 1.0, seed=9 * number + r), 1.0) for r in (1, 2)
        ]
        folders.append(make_run(tmp_path, trials, slug=f"run-{number}"))
    result = jostle.compare(folders[:3], folders[3:], fail_if="p50 > +20 %").result
    (comparison,) = result.comparisons
    assert (comparison.unit, comparison.rounds, comparison.paired) == ("run", (3, 3), False)
    assert [condition.verdict for condition in result.conditions] == ["fail"]
    with pytest.raises(PlanError, match="at least 3 on each side"):
        jostle.compare(folders[:2], folders[2:])
