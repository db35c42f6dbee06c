"""A server that settles in one of two ways each time it is started is told in the first lines."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from jostle.analysis.results import Check, RunResult
from jostle.analysis.run import analyse
from jostle.record import RunRecord
from support.rendered import rendered
from support.synthetic import Trial, closed, lognormal, make_run


def result_of(tmp_path: Path, medians_s: Sequence[float]) -> RunResult:
    trials = [
        Trial("a", "w", number, closed(lognormal(median, 0.2), 5.0, seed=number))
        for number, median in enumerate(medians_s, 1)
    ]
    return analyse(RunRecord.open(make_run(tmp_path, trials)))


def found(result: RunResult) -> dict[int, Check]:
    return {
        trial.number: check
        for trial in result.trials
        for check in trial.validity.checks
        if check.name == "rounds"
    }


def test_the_smaller_group_of_rounds_is_told_with_the_other(tmp_path: Path) -> None:
    result = result_of(tmp_path, [0.002, 0.004, 0.002, 0.002, 0.004, 0.002])
    assert found(result).keys() == {2, 5}
    text = " ".join(rendered(result, "text").split())
    assert "in 2 of 6 rounds" in text
    assert "and about 2.0" in text
    assert "in the others: two modes" in text
    assert result.verdict == "valid"


def test_of_equal_groups_the_slower_one_is_told(tmp_path: Path) -> None:
    assert found(result_of(tmp_path, [0.004, 0.002, 0.002, 0.004, 0.002, 0.004])).keys() == {1, 4, 6}


@pytest.mark.parametrize(
    "medians_s",
    [
        [0.002, 0.0022, 0.0021, 0.002, 0.0022, 0.002],  # too close to matter
        [0.002, 0.002, 0.002, 0.002, 0.002, 0.004],  # one that is alone may be chance
        [0.002, 0.003, 0.004, 0.005, 0.006, 0.007],  # no gap
        [0.002, 0.004, 0.002, 0.004],  # four are too few
    ],
)
def test_rounds_that_merely_vary_have_no_modes(tmp_path: Path, medians_s: Sequence[float]) -> None:
    assert not found(result_of(tmp_path, medians_s))
