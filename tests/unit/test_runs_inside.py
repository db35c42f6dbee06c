"""Where runs are: one rule for the page, the history, earlier runs and the hints of messages."""

from pathlib import Path

import pytest

from jostle.analysis.history import history
from jostle.errors import NotARun
from jostle.record import RunRecord
from jostle.record.folder import is_run, runs_inside
from jostle.web.runs import Runs
from support.synthetic import Trial, closed, lognormal, make_run


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Two runs, and what is none: a file, a folder, a run further down, a link to a run."""
    base = tmp_path / "runs"
    for slug in ("one", "two"):
        make_run(base, [Trial("a", "w", 1, closed(lognormal(0.01, 0.1), 1.0), 1.0)], slug=slug)
    (base / "journal.ndjson").touch()
    (base / "plans" / "deeper").mkdir(parents=True)
    (base / "plans" / "deeper" / "journal.ndjson").touch()
    (base / "latest").symlink_to(runs_inside(base)[-1])
    return base


def test_runs_are_folders_with_a_journal_and_no_links(base: Path) -> None:
    names = [folder.name for folder in runs_inside(base)]
    assert [name.rpartition("-")[2] for name in names] == ["one", "two"]
    assert names == sorted(names)
    assert is_run(base / "latest"), "by its name it may be opened"
    assert runs_inside(base / "nowhere") == []


def test_all_who_look_for_runs_see_the_same(base: Path) -> None:
    names = [folder.name for folder in runs_inside(base)]
    entries, unreadable = history(base)
    assert ([entry.folder for entry in entries], unreadable) == (names, [])
    assert Runs(base).names() == names[::-1]
    (base / "journal.ndjson").unlink()
    with pytest.raises(NotARun) as error:
        RunRecord.open(base)
    assert error.value.hint == f"it holds 2 runs, the newest is {str(base / names[-1])!r}"


def test_a_folder_of_runs_may_itself_be_a_link(base: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.symlink_to(base)
    assert [folder.name for folder in runs_inside(linked)] == [folder.name for folder in runs_inside(base)]
