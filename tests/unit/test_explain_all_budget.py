"""`jostle explain --all`: the least time that it takes, and the command that goes on from where it ended."""

from pathlib import Path

import pytest

from jostle import cli
from jostle.cli.exit_codes import ExitCode
from jostle.cli.explain_all import MIN_BUDGET_S, MIN_S, explain_all
from jostle.errors import MissingRuntime
from jostle.explain.results import Explanation


def lacking(label: str, _seconds: float) -> Explanation:
    raise MissingRuntime(f"{label} needs a program: it is not there", "install it")


def test_less_time_than_one_contestant_takes_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main(["explain", "--all", "node", "--budget", "59s"])
    assert left.value.code == ExitCode.USAGE
    assert capsys.readouterr().err == (
        "jostle: --budget: 59s is too short for even one contestant\n"
        "  give at least 1m; each takes 3m or less\n"
    )


def test_the_least_time_is_enough_for_one(tmp_path: Path) -> None:
    asked: list[tuple[str, float]] = []

    def examined(label: str, seconds: float) -> Explanation:
        asked.append((label, seconds))
        return lacking(label, seconds)

    explain_all(tmp_path, ["node"], MIN_BUDGET_S, examined)
    assert asked == [("node", MIN_S)]


def test_it_goes_on_with_all_that_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["explain", "--all", "node", "--budget", "1h", "--into", "here", "--share-cores"]
    monkeypatch.setattr("sys.argv", ["jostle", *words])
    explain_all(tmp_path, ["node"], 3600.0, lacking)
    again = f"jostle explain --all node --budget 1h --share-cores --into {tmp_path}"
    assert f"1 contestant without an explanation; {again} goes on from here" in capsys.readouterr().err
