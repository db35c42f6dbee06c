"""`python scripts/check_run.py RUN`: what it says of folders that are no runs, and of damaged ones."""

from pathlib import Path

import pytest

import check_run
from jostle.errors import NotARun
from support.synthetic import make_run, starvation_trials


def test_a_folder_that_is_no_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_run.main([str(tmp_path / "rusn")]) == 2
    assert f"there is no folder '{tmp_path / 'rusn'}'" in capsys.readouterr().err
    with pytest.raises(NotARun, match=r"no journal\.ndjson"):
        list(check_run.violations(tmp_path))


def test_a_last_line_without_its_end_does_not_count(tmp_path: Path) -> None:
    folder = make_run(tmp_path, starvation_trials(1)[:1], ended=False)
    for path in (folder / "journal.ndjson", *folder.glob("trials/*/intervals.ndjson")):
        with path.open("a") as file:
            file.write('{"at": 1, "ev')
    assert list(check_run.violations(folder)) == []


def test_a_whole_line_that_is_no_json_is_a_violation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_run(tmp_path, [])
    journal = folder / "journal.ndjson"
    journal.write_text("{]\n")
    assert check_run.main([str(folder)]) == 1
    assert capsys.readouterr().out.startswith(f"{journal}, 1: not JSON: ")
