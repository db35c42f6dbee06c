"""Whether a claim depends on how warm its servers were."""

from pathlib import Path

import pytest

from jostle.analysis import metrics
from jostle.analysis.judge import claims
from jostle.analysis.judge.claims import Measurements, _further
from jostle.analysis.judge.unsettled import have_settled, reaching_over
from jostle.analysis.results import Estimate
from jostle.analysis.summaries.workload import by_workload
from jostle.analysis.trials.data import TrialData
from jostle.record import RunRecord
from support.synthetic import Trial, closed, make_run


@pytest.mark.parametrize(
    ("low", "high", "settled"),
    [
        (0.98, 1.02, True),
        (1.01, 1.029, True),
        (0.9, 1.1, False),  # its middle is 1, but nothing shows that the runs stay there
        (1.05, 1.2, False),
        (0.96, 0.97, False),
        (None, None, False),
        (0.0, 1.0, False),
    ],
)
def test_the_whole_interval_of_the_change_decides(
    low: float | None, high: float | None, settled: bool
) -> None:
    assert have_settled(Estimate(1.0, low, high, ""), 0.03) == settled


def ends(found: Estimate) -> tuple[float | None, float | None]:
    return found.low, found.high


def test_the_interval_reaches_over_what_was_measured_and_what_may_come() -> None:
    found = Estimate(2.0, 1.9, 2.1, "")
    assert ends(reaching_over(found, Estimate(2.4, 2.0, 2.9, ""))) == (1.9, 2.9)
    assert ends(reaching_over(found, Estimate(1.5, 1.2, 1.8, ""))) == (1.2, 2.1)
    assert reaching_over(found, Estimate(1.5, 1.2, 1.8, "")).value == 2.0


def test_without_an_interval_nothing_is_known() -> None:
    found = Estimate(2.0, 1.9, 2.1, "")
    assert ends(reaching_over(found, Estimate(2.4))) == (None, None)
    assert reaching_over(found, Estimate(None)).note == "whether the runs had settled is not known"
    assert reaching_over(Estimate(None, note="zero"), found).note == "zero"


def test_only_a_throughput_would_change_with_a_further_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials = [Trial("a", "hello", number, closed(lambda _: 0.002, 5.0)) for number in (1, 2, 3)]
    record = RunRecord.open(make_run(tmp_path, trials, plan_text='title = "t"\ncontestants = ["a"]\n'))
    measured = Measurements(by_workload([TrialData(trial) for trial in record.trials]), {}, [], {}, {})
    monkeypatch.setattr(claims, "further_throughput", lambda data: 2 * data.throughput)
    monkeypatch.setitem(metrics.VALUE_OF, "goodput", lambda data: data.throughput)
    sides = [(("a", "hello"), "throughput"), (("a", "hello"), "goodput")]
    assert _further(sides, measured, 0.95).value == pytest.approx(2)
    assert _further([*sides[:1], (("a", "hello"), "of another version")], measured, 0.95).value is None
