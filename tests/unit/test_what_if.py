"""`jostle what-if`: a run from which nothing can be predicted is no mistake of the user's."""

from dataclasses import replace
from pathlib import Path

import pytest

from jostle import cli
from jostle.analysis.results.capacity import FittedModel
from jostle.capacity.run import measure
from jostle.capacity.what_if import Changes, _Fitted, _sentences, read_changes, what_if
from jostle.cli.exit_codes import ExitCode
from jostle.errors import JostleError, UserError
from jostle.record import RunRecord
from support.simulated import question
from support.synthetic import make_run

FITTED = FittedModel("workers", 4, (4, 4), 0.01, 1.0, [10.0], True, "", [])


def test_a_capacity_that_was_not_found_is_a_result_without_a_prediction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = {"discipline": "workers", "workers": 4, "service": "exponential 10ms"}
    folder = measure(question(slow, ["p99 < 5 ms"]), tmp_path, 5, lambda _text, _final: None)
    with pytest.raises(SystemExit) as left:
        cli.main(["what-if", str(folder), "workers=8"])
    assert left.value.code == ExitCode.INVALID_RESULT
    assert "there is nothing to predict from" in capsys.readouterr().err


def test_a_rejected_model_is_a_result_without_a_prediction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejected = replace(FITTED, accepted=False, why="its p99 at 30 is +80% off")
    monkeypatch.setattr("jostle.capacity.what_if._of_any", lambda _: _Fitted([], rejected, {}, "clients"))
    record = RunRecord.open(make_run(tmp_path, []))
    with pytest.raises(JostleError, match=r"model rejected: 4 workers, .* but its p99 at 30 is") as told:
        what_if(record, read_changes(["workers=8"]))
    assert not isinstance(told.value, UserError)


@pytest.mark.parametrize(
    ("models", "says"),
    [
        (1, "first served."),
        (2, "The band covers 1 other model that fits as well."),
        (3, "The band covers 2 other models that fit as well."),
    ],
)
def test_other_models_that_fit_are_counted(models: int, says: str) -> None:
    fitted = _Fitted([None] * models, FITTED, {}, "/s")  # type: ignore[list-item]
    (said,) = _sentences(fitted, Changes(()), [])
    assert said.endswith(says)
