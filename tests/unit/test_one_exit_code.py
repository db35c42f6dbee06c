"""A run has one exit code, whoever shows it; Ctrl-C before anything was measured has another."""

import json
import signal
from pathlib import Path
from typing import Any, NoReturn

import pytest

from jostle.analysis.run import analyse
from jostle.cli import execution
from jostle.cli.output import PlanOutput, ResultOutput
from jostle.errors import ContestantError, MissingRuntime
from jostle.record import RunRecord
from support.commands import run_command
from support.fakes import Laboratory, laboratory
from support.synthetic import Trial, closed, lognormal, make_run


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    made = laboratory(tmp_path / "runs", monkeypatch)
    monkeypatch.setattr(execution, "executor_for", lambda _: made.executor)
    monkeypatch.setattr(execution, "let_signals_stop_like_ctrl_c", lambda: None)
    return made


def run(lab: Laboratory, rounds: int = 1) -> int:
    output = PlanOutput(no_pages=True, quiet=True)
    return execution.run_plan(lab.plan(rounds=rounds), lab.base, "fake", seed=7, output=output)


def reported(folder: Path) -> int:
    return execution.show(folder, ResultOutput(), pages=False, undecided=None)


def test_a_sound_run(lab: Laboratory) -> None:
    assert (run(lab), reported(lab.folder)) == (0, 0)


def test_a_trial_that_failed(lab: Laboratory) -> None:
    lab.contestants["a"].fails_at = (2,)
    assert (run(lab, rounds=2), reported(lab.folder)) == (3, 3)


def test_a_contestant_that_was_skipped(lab: Laboratory) -> None:
    lab.contestants["b"].build_fails = MissingRuntime("b is not installed")
    assert (run(lab), reported(lab.folder)) == (3, 3)
    assert RunRecord.open(lab.folder).complete


def test_a_run_without_any_contestant_that_can_run_here_names_each_of_them_once(
    lab: Laboratory, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        lab.contestants[name].build_fails = MissingRuntime(f"{name} is not installed", "install it")
    with pytest.raises(ContestantError, match="none of the contestants can run here") as told:
        run(lab)
    said = capsys.readouterr().err + str(told.value)
    assert [said.count(f"{name} is not installed") for name in ("a", "b")] == [1, 1]
    assert not lab.base.exists()


def test_a_run_that_was_stopped(lab: Laboratory) -> None:
    lab.executor.loads = [lambda: None, lambda: signal.raise_signal(signal.SIGINT)]
    assert (run(lab, rounds=2), reported(lab.folder)) == (3, 3)


def test_a_run_that_was_killed_between_two_trials(tmp_path: Path) -> None:
    """All of its trials are valid, but there were to be more."""
    trial = Trial("mine", "w", 1, closed(lognormal(0.002, 0.1), 2.0), 2.0)
    folder = make_run(tmp_path, [trial], ended=False)
    assert reported(folder) == 3
    assert run_command("report", folder, "--format", "json")[0] == 0, "it was written"


def test_ctrl_c_while_the_first_server_starts_shows_no_empty_result(
    lab: Laboratory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(**_: object) -> NoReturn:
        raise KeyboardInterrupt

    for contestant in lab.contestants.values():
        monkeypatch.setattr(contestant, "start", start)
    with pytest.raises(KeyboardInterrupt):
        run(lab)
    assert capsys.readouterr().out == ""


def test_ctrl_c_before_a_search_has_measured_anything_shows_no_empty_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(*given: Any) -> NoReturn:
        given[-1].folder = tmp_path
        raise KeyboardInterrupt

    monkeypatch.setattr("jostle.capacity.run.measure", measure)
    monkeypatch.setattr("jostle.runner.interrupt.let_signals_stop_like_ctrl_c", lambda: None)
    found = run_command("capacity", "http://127.0.0.1:9/", "--slo", "p99 < 1 s")
    assert found == (130, "")
    assert capsys.readouterr().err == "jostle: stopped before there was a result\n"


def test_json_has_all_that_a_report_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trials = [
        Trial(name, "w", number, closed(lognormal(median, 0.1), 2.0, seed=number), 2.0)
        for number in (1, 2, 3)
        for name, median in (("node", 0.002), ("go", 0.004))
    ]
    folder = make_run(tmp_path, trials)
    execution.show(folder, ResultOutput(as_json=True), pages=False, undecided=None)
    shown = json.loads(capsys.readouterr().out)
    assert shown["comparisons"]
    assert shown == json.loads(json.dumps(analyse(RunRecord.open(folder)).as_json()))
