"""Runs that are named twice, several at once, or not at all."""

import os
import shutil
from pathlib import Path

import pytest

import jostle
from jostle.errors import NotComparable, PlanError
from support.commands import run_command
from support.synthetic import Trial, closed, lognormal, make_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    base = tmp_path_factory.mktemp("runs")
    return [
        make_run(base, [Trial("a", "w", 1, closed(lognormal(0.05, 0.2), 2.0, seed=seed), duration=2.0)])
        for seed in range(3)
    ]


def test_a_run_that_is_given_twice_is_refused(runs: list[Path], tmp_path: Path) -> None:
    """Zero variance between equal runs would decide anything."""
    one, two, three = runs
    link = tmp_path / "link"
    link.symlink_to(one)
    for first, second in (([one, one, one], [two, two, two]), ([one, two, three], [one, two, three])):
        with pytest.raises(NotComparable, match=r"is given [23] times"):
            jostle.compare(first, second)
    for other in (one, link, Path(os.path.relpath(one))):
        with pytest.raises(NotComparable, match="is given 2 times"):
            jostle.compare(one, other)
    with pytest.raises(NotComparable, match="name each run once"):
        run_command("compare", one, link)


def test_a_copy_of_a_run_is_another_folder(runs: list[Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs[0], tmp_path / "copy")
    assert jostle.compare(runs[0], copy).result.comparisons


@pytest.mark.parametrize("form", ["junit", "csv", "html", "json"])
def test_a_form_of_one_document_takes_one_run(runs: list[Path], form: str) -> None:
    with pytest.raises(PlanError, match=f"--format {form} is one document of one run, and 2 are named"):
        run_command("report", *runs[:2], "--format", form)
    assert run_command("report", runs[0], "--format", form)[1]


def test_text_of_several_runs_is_one_after_another(runs: list[Path]) -> None:
    code, said = run_command("report", *runs[:2], "--format", "md")
    assert code == 0
    assert said.count("\n# ") + said.startswith("# ") == 2


@pytest.mark.parametrize("command", ["report", "compare"])
def test_the_index_alone_is_no_run(command: str, tmp_path: Path) -> None:
    (tmp_path / "index.ndjson").touch()
    with pytest.raises(PlanError, match="no run is named"):
        run_command(command, tmp_path / "index.ndjson")
