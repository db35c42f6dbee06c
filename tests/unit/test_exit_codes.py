"""What a run or a comparison tells a shell."""

import re
from pathlib import Path

import pytest

from jostle import cli
from jostle.cli.exit_codes import ExitCode, Undecided, exit_code, exit_code_of_all
from jostle.errors import ContestantError, PlanError


@pytest.mark.parametrize(
    ("decisions", "measured", "undecided", "code"),
    [
        ([], True, None, ExitCode.DONE),
        (["pass", "pass"], True, None, ExitCode.DONE),
        (["pass", "fail", "undecided"], True, None, ExitCode.FAILED),
        (["pass", "fail"], False, None, ExitCode.FAILED),
        (["pass"], False, None, ExitCode.INVALID_RESULT),
        (["undecided"], False, Undecided.ok, ExitCode.INVALID_RESULT),
        (["pass", "undecided"], True, None, ExitCode.UNDECIDED),
        (["pass", "undecided"], True, Undecided.ok, ExitCode.DONE),
        (["pass", "undecided"], True, Undecided.fail, ExitCode.FAILED),
    ],
)
def test_the_exit_code_of_decisions(
    decisions: list[str], measured: bool, undecided: Undecided | None, code: ExitCode
) -> None:
    assert exit_code(decisions, measured=measured, undecided=undecided) is code  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("undecided", "code"),
    [(None, ExitCode.INVALID_RESULT), (Undecided.ok, ExitCode.DONE), (Undecided.fail, ExitCode.FAILED)],
)
def test_an_invalid_run_decides_nothing_so_that_noise_alone_fails_no_build(
    undecided: Undecided | None, code: ExitCode
) -> None:
    for decisions in ([], ["pass"], ["undecided"]):
        found = exit_code(decisions, measured=True, valid=False, undecided=undecided)  # type: ignore[arg-type]
        assert found is code
    assert exit_code(["fail"], measured=True, valid=False, undecided=undecided) is ExitCode.FAILED
    assert exit_code([], measured=False, valid=False, undecided=undecided) is ExitCode.INVALID_RESULT


def test_of_several_results_a_failure_comes_first_then_what_cannot_be_trusted() -> None:
    assert exit_code_of_all([0, 4, 1, 3]) == 1
    assert exit_code_of_all([4, 0, 3]) == 3
    assert exit_code_of_all([0, 4]) == 4
    assert exit_code_of_all([0]) == 0


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (PlanError("a mistake"), ExitCode.USAGE),
        (ContestantError("it does not start"), ExitCode.INVALID_RESULT),
        (ZeroDivisionError("a bug"), ExitCode.INVALID_RESULT),
    ],
)
def test_no_error_looks_like_a_failed_requirement(
    error: Exception, code: ExitCode, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: list[str]) -> None:
        raise error

    monkeypatch.setattr(cli, "_run", fail)
    with pytest.raises(SystemExit) as left:
        cli.main(["hit"])
    assert left.value.code == code
    assert ("Traceback" in capsys.readouterr().err) == isinstance(error, ZeroDivisionError)


def test_the_readme_lists_all_of_them() -> None:
    readme = Path(__file__).parents[2].joinpath("README.md").read_text()
    table = readme[readme.index("| exit code |") :].partition("\n\n")[0]
    assert [int(code) for code in re.findall(r"^\| (\d) \|", table, re.MULTILINE)] == list(ExitCode)
