"""What `jostle compare` tells a shell of runs that are cut short or invalid, and where it cannot write."""

import errno
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from jostle.errors import JostleError
from support.commands import run_command
from support.synthetic import Trial, closed, lognormal, make_run

PAIR = ("--contestants", "node,go")
SLOWER, FAR_SLOWER, FASTER = "p50 > +20 %", "p50 > +900 %", "faster"


def trials() -> list[Trial]:
    return [
        Trial(name, "w", number, closed(lognormal(median, 0.1), 2.0, seed=number), 2.0)
        for number in (1, 2, 3, 4)
        for name, median in (("node", 0.002), ("go", 0.004))
    ]


def with_wrong_responses() -> list[Trial]:
    return [
        replace(
            trial,
            requests=[
                replace(request, outcome="wrong_status") if i % 20 else request
                for i, request in enumerate(trial.requests)
            ],
        )
        for trial in trials()
    ]


def compared(folder: Path, *more: str) -> int:
    return run_command("compare", folder, *PAIR, *more)[0]


def test_a_run_that_is_cut_short_is_not_trusted_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run(tmp_path, trials(), ended=False)
    assert compared(folder, "--fail-if", FASTER) == 3
    assert f"{folder} is not complete: 8 of 8 trials are complete; its journal" in capsys.readouterr().err
    assert compared(folder, "--fail-if", FAR_SLOWER) == 3
    assert compared(folder, "--fail-if", SLOWER) == 1, "what has failed would not pass with more rounds"


def test_any_of_several_runs_may_be_cut_short(tmp_path: Path) -> None:
    whole, other, part = (make_run(tmp_path, trials(), ended=ended) for ended in (True, True, False))
    assert run_command("compare", whole, other)[0] == 4, "one run on each side"
    assert run_command("compare", whole, part)[0] == run_command("compare", part, whole)[0] == 3
    more = [make_run(tmp_path, trials()) for _ in range(4)]
    assert run_command("compare", whole, *more[:2], "vs", other, *more[2:])[0] == 0
    assert run_command("compare", whole, *more[:2], "vs", part, *more[2:])[0] == 3


def test_invalid_trials_are_not_trusted_and_leave_conditions_undecided(tmp_path: Path) -> None:
    folder = make_run(tmp_path, with_wrong_responses())
    for condition in (SLOWER, "faster"):
        assert compared(folder, "--fail-if", condition) == 4
        assert compared(folder, "--fail-if", condition, "--undecided", "pass") == 0
    assert compared(folder) == 1, "what disturbs both sides alike makes none of them slower"


@pytest.mark.parametrize(("condition", "code"), [(SLOWER, 1), (FAR_SLOWER, 0)])
def test_a_job_summary_that_cannot_be_written_changes_no_decision(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    condition: str,
    code: int,
) -> None:
    summary = tmp_path / "not-mounted" / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert compared(make_run(tmp_path / "runs", trials()), "--fail-if", condition) == code
    said = capsys.readouterr().err
    assert said == f"the job summary {summary} could not be written: no such file or directory\n"


def test_a_file_that_cannot_be_written_is_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_run(tmp_path, trials())
    monkeypatch.setattr("jostle.host.files.write_whole", failing(errno.ENOSPC))
    with pytest.raises(JostleError, match="could not be written: no space left on device"):
        compared(folder, "--output", str(tmp_path / "result.md"))


def failing(number: int) -> Callable[..., NoReturn]:
    def write(*_: object) -> NoReturn:
        raise OSError(number, "No space left on device")

    return write
