"""`jostle race --all`: what it keeps of each experiment, what it says of it, and its exit code."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from jostle import cli
from jostle.analysis.results import RunResult
from jostle.cli import race_all
from jostle.cli.exit_codes import ExitCode
from jostle.cli.options import typed
from jostle.cli.race_all import State
from jostle.errors import JostleError, PlanError
from jostle.plan import Plan, parse_plan
from jostle.record.verdict import Verdict
from jostle.report.combined import Chapter, CombinedReport
from support.commands import run_command
from support.results import make_hit

PLAN = """
title = "One"
contestants = ["reference-null"]
[workload.w]
request = { get = "/hello" }
load = { clients = 1, for = "1s" }
"""
HIT = make_hit()
Turns = Callable[..., Iterator[float]]


def load(name: str) -> Plan:
    return parse_plan(PLAN, name)


def over(*_: object) -> Iterator[float]:
    """A run that ends in its first turn."""
    yield from ()


@pytest.fixture
def raced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., ExitCode]:
    """raced(turns): the exit code of `pair`, which has these turns and, if it is given, this result."""

    def race(turns: Turns, result: RunResult | None = None) -> ExitCode:
        def write(_: State, _names: object, results: dict[str, RunResult], *, pngs: bool) -> list[Path]:
            if pngs and result is not None:
                results["pair"] = result
            return []

        monkeypatch.setattr(race_all, "_turns", turns)
        monkeypatch.setattr(race_all, "_write", write)
        return ExitCode(race_all.race_all(tmp_path, ["pair"], load, 1, quiet=True))

    monkeypatch.setattr("jostle.runner.interrupt.let_signals_stop_like_ctrl_c", lambda: None)
    return race


def test_an_experiment_that_has_results_and_failed_later_was_stopped_early() -> None:
    failed = Chapter("hello", "How fast?", "", HIT, why="the disk is full")
    said = CombinedReport([failed], "jostle race --all").markdown()
    assert "Stopped early: the disk is full" in said
    assert "Not measured" not in said


def test_what_goes_on_no_longer_says_why_it_stopped(raced: Callable[..., ExitCode], tmp_path: Path) -> None:
    seen: list[object] = []

    def fails(*_: object) -> Iterator[float]:
        yield 1.0
        raise JostleError("the disk is full")

    def goes_on(*_: object) -> Iterator[float]:
        yield 1.0
        seen.append(State.of(tmp_path, 1).of_experiment("pair")["why"])

    raced(fails)
    failed = State.of(tmp_path, 1).of_experiment("pair")
    assert (failed["state"], failed["why"]) == ("failed", "the disk is full")
    raced(goes_on)
    assert seen == [""]
    assert State.of(tmp_path, 1).of_experiment("pair")["state"] == "done"


@pytest.mark.parametrize("loads", ["", "pair"])
def test_what_is_done_stays_done_though_its_plan_cannot_be_loaded(loads: str, tmp_path: Path) -> None:
    state = State.of(tmp_path, 1)
    state.set("threads", state="done", why="")

    def load_one(name: str) -> Plan:
        if name != loads:
            raise PlanError(f"{name}: rounds is zero", "write at least 1")
        return load(name)

    if loads:
        assert race_all._plans(state, ["threads", "pair"], load_one).keys() == {"pair"}
    else:
        with pytest.raises(PlanError, match="threads: rounds is zero"):
            race_all._plans(state, ["threads", "pair"], load_one)
    assert State.of(tmp_path, 1).done == {"threads": {"state": "done", "why": ""}}


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (HIT, ExitCode.DONE),
        (replace(HIT, verdict=Verdict.SUSPECT), ExitCode.DONE),
        (replace(HIT, verdict=Verdict.INVALID), ExitCode.INVALID_RESULT),
        (replace(HIT, complete=False), ExitCode.INVALID_RESULT),
        (replace(HIT, skipped={"go": "there is no go"}), ExitCode.INVALID_RESULT),
        (replace(HIT, skipped_workloads={"go": {"w": "it has no route"}}), ExitCode.INVALID_RESULT),
        (replace(HIT, summaries=[]), ExitCode.INVALID_RESULT),
        (None, ExitCode.INVALID_RESULT),
    ],
    ids=["valid", "suspect", "invalid", "incomplete", "skipped", "skipped once", "no response", "not shown"],
)
def test_the_exit_code_says_whether_all_was_measured_and_can_be_trusted(
    raced: Callable[..., ExitCode], result: RunResult | None, code: ExitCode
) -> None:
    assert raced(over, result) is code


def test_what_was_typed_goes_on_and_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> Iterator[float]:
        yield from ()
        raise KeyboardInterrupt

    words = ["race", "--all", "pair", "--into", "here", "--until-decided", "--budget", "5m"]
    monkeypatch.setattr("sys.argv", ["/usr/bin/jostle", *words])
    monkeypatch.setattr("jostle.runner.interrupt.let_signals_stop_like_ctrl_c", lambda: None)
    monkeypatch.setattr(race_all, "_turns", stopped)
    assert race_all.race_all(tmp_path, ["pair"], load, None, quiet=True) == ExitCode.INVALID_RESULT
    again = "jostle race --all pair --until-decided --budget 5m"
    assert f"stopped; {again} --into {tmp_path} goes on from here" in capsys.readouterr().err
    seed = json.loads((tmp_path / "all.json").read_text())["seed"]
    assert f"{again} --seed {seed}\n" in (tmp_path / "results.md").read_text()


def test_an_option_is_left_out_of_the_words_in_both_of_its_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["jostle", "race", "--into=a", "--all", "--into", "b", "-q"])
    assert typed(without="--into") == ["jostle", "race", "--all", "-q"]


def test_a_folder_that_is_given_is_the_folder_whatever_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []

    def race(folder: Path, *_: object, **__: object) -> int:
        folders.append(folder)
        return 0

    monkeypatch.setattr("jostle.cli.race_all.race_all", race)
    for more in ([], ["--into", "runs"]):
        assert run_command("race", "--all", *more)[0] == 0
    made, given = folders
    assert (made.parent, given) == (Path("runs"), Path("runs"))


def test_options_without_an_experiment_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["race", "--quick", "--contestants", "node"])
    assert left.value.code == ExitCode.USAGE
    said = capsys.readouterr()
    assert said.err == "jostle: which experiment?\n  name one, or give --all; 'jostle race' lists them\n"
    assert said.out == ""
    assert "starvation" in run_command("race")[1]
