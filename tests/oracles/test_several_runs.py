"""Three runs or more on each side: the run is the unit, and what varies from run to run makes no finding."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import jostle
from jostle.analysis.compare.side import Side, WholeRun
from jostle.analysis.compare.sides import compare_sides
from jostle.errors import PlanError
from support.sides import known_side
from support.synthetic import Trial, closed, lognormal, make_run


def runs(rng: np.random.Generator, name: str, count: int, change: float = 0.0) -> Side:
    """Runs differ by 15 %, as on a shared machine, the five rounds of a run by 3 %."""
    found = []
    for number in range(count):
        level = rng.normal(0, 0.15) + math.log1p(change)
        values: dict[str, NDArray[np.float64]] = {
            q: np.exp(level + rng.normal(0, 0.03, 5)) for q in ("throughput", "p50", "p90", "p99")
        }
        found.append(WholeRun.of_rounds(number, known_side(name, values).rounds))
    return Side(name, known_side(name, {"throughput": np.ones(1)}).summary, found, name)


@pytest.mark.parametrize("count", [3, 6])
def test_what_varies_from_run_to_run_is_no_finding(count: int) -> None:
    """Two runs of the same server differed "surely" in 44 % of all cases on this machine."""
    rng = np.random.default_rng(count)
    cases, alarms = 60, 0
    for _ in range(cases):
        found = compare_sides(runs(rng, "a", count), runs(rng, "b", count))
        (throughput,) = [d for d in found.differences if d.quantity == "throughput"]
        assert throughput.ratio.low is not None
        alarms += throughput.finding in ("less", "more")
    assert alarms <= int(stats.binom(cases, 0.05).ppf(0.999))


def test_what_is_larger_than_that_is_found() -> None:
    rng = np.random.default_rng(1)
    found = compare_sides(runs(rng, "a", 5), runs(rng, "b", 5, change=1.0))
    assert "more" in {d.finding for d in found.differences if d.quantity == "throughput"}
    assert found.sentence.startswith("b against a: throughput +")


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
