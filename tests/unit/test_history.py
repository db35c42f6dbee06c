"""`jostle history`: the index is a cache that follows the records."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from jostle.analysis import run
from jostle.analysis.history import INDEX, history, only
from jostle.analysis.stats.level_shifts import level_shifts
from jostle.errors import NotARun
from jostle.host.git import revision
from jostle.record.journal import append_event
from support.commands import run_command
from support.synthetic import Trial, closed, lognormal, make_run


def add(base: Path, slug: str, median: float, *, ended: bool = True) -> Path:
    trials = [Trial("node", "w", n, closed(lognormal(median, 0.1), 2.0, seed=n), 2.0) for n in (1, 2)]
    return make_run(base, trials, slug=slug, ended=ended)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    add(tmp_path, "a", 0.002)
    add(tmp_path, "b", 0.003)
    return tmp_path


def test_figures_over_time(base: Path) -> None:
    entries, unreadable = history(base)
    assert unreadable == []
    medians = [entry.figures[0].p50.value for entry in entries]
    assert medians == [pytest.approx(0.002, rel=0.05), pytest.approx(0.003, rel=0.05)]
    assert {entry.title for entry in entries} == {"A synthetic run"}


def test_runs_of_some_contestants_alone(base: Path) -> None:
    entries, _ = history(base)
    assert only(entries, ["node"]) == entries
    assert only(entries, ["go"]) == []
    assert json.loads(run_command("history", base, "--contestants", "go", "--json")[1])["runs"] == []
    assert "none of these contestants was measured" in run_command("history", base, "--contestants", "go")[1]


def test_the_index_saves_the_analysis_and_follows_changes(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = history(base)
    analysed: list[str] = []
    analyse = run.analyse

    def counting(record: object, **options: bool) -> object:
        analysed.append(record.folder.name)  # type: ignore[attr-defined]
        return analyse(record, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "analyse", counting)
    assert history(base) == first
    assert analysed == []
    newest = add(base, "c", 0.004, ended=False)
    entries, _ = history(base)
    assert analysed == [newest.name]
    assert not entries[-1].complete
    append_event(newest / "journal.ndjson", "run ended")
    assert all(entry.complete for entry in history(base)[0])
    shutil.rmtree(newest)
    assert history(base) == first
    assert len((base / INDEX).read_text().splitlines()) == 2
    analysed.clear()
    (base / INDEX).unlink()
    assert history(base) == first
    assert len(analysed) == 2


@pytest.mark.parametrize("broken", ["", "{", '{"version": 1}\n', '{"version": 99}\n', "\x00\n[]\n5\n"])
def test_a_broken_index_is_made_anew(base: Path, broken: str) -> None:
    first = history(base)
    whole = (base / INDEX).read_text()
    (base / INDEX).write_text(broken)
    assert history(base) == first
    assert (base / INDEX).read_text() == whole


def test_a_run_that_cannot_be_read_is_named_and_stops_nothing(base: Path) -> None:
    other = add(base, "d", 0.002)
    host = json.loads((other / "host.json").read_text())
    (other / "host.json").write_text(json.dumps(host | {"format": 99}))
    entries, unreadable = history(base)
    assert len(entries) == 2
    assert [u.folder for u in unreadable] == [other.name]
    assert "format 99" in unreadable[0].why


def test_a_run_that_did_not_end_is_told_within_80_columns(base: Path) -> None:
    add(base, "c", 0.004, ended=False)
    said = run_command("history", str(base))[1]
    assert "part: the run was cut short, or is still going" in said
    assert max(map(len, said.splitlines())) <= 80
    assert "…" not in said, "no column is cut"


def test_the_command(base: Path, tmp_path: Path) -> None:
    said = run_command("history", str(base))[1]
    assert "node, w" in said
    assert "2.00 ms" in said
    assert max(map(len, said.splitlines())) <= 80
    assert "part" not in said
    found = json.loads(run_command("history", str(base), "--json")[1])
    assert len(found["runs"]) == 2
    assert "none of these" in run_command("history", str(base), "--contestants", "go")[1]
    (tmp_path / "empty").mkdir()
    assert "no run" in run_command("history", str(tmp_path / "empty"))[1]
    with pytest.raises(NotARun, match="there is no folder"):
        history(tmp_path / "nowhere")


def weeks(base: Path, medians: list[float]) -> list[Path]:
    """Runs of the same plan, one after another."""
    return [
        make_run(
            base,
            [
                Trial("node", "w", n, closed(lognormal(median, 0.1), 2.0, seed=100 * number + n), 2.0)
                for n in (1, 2, 3)
            ],
            slug=f"run-{number:02d}",
        )
        for number, median in enumerate(medians)
    ]


def test_a_change_of_level_is_told_with_a_picture_and_since_when(tmp_path: Path) -> None:
    weeks(tmp_path, [0.002, 0.00202, 0.00199, 0.002, 0.00201, 0.003, 0.00302])
    said = run_command("history", tmp_path)[1]
    (line,) = [line for line in said.splitlines() if line.startswith("  p50")]
    assert re.search(r"[▁▂]{5}[▇█]{2}  \+(49|5\d) % since 2026-11-21 18:52", line)
    assert max(map(len, said.splitlines())) <= 80


def test_equal_runs_have_no_change(tmp_path: Path) -> None:
    weeks(tmp_path, [0.002] * 6)
    said = run_command("history", tmp_path)[1]
    assert said.count("no change") == 4


def test_level_shifts_are_found_where_they_are_and_seldom_where_none_is() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.02, 18)
    assert level_shifts(noise + np.repeat([0.0, 0.2, 0.05], 6)) == [6, 12]
    assert sum(bool(level_shifts(rng.normal(0, 1, 12))) for _ in range(300)) <= 9


def test_two_runs_are_compared_by_how_much_earlier_ones_differ(tmp_path: Path) -> None:
    folders = weeks(tmp_path, [0.002, 0.00203, 0.00198, 0.00201, 0.003])
    code, said = run_command("compare", folders[3], folders[4])
    assert code == 1
    assert "is slower: " in said
    assert "Decided by how much 3 other runs" in " ".join(said.split())
    assert "So nothing is decided" not in " ".join(said.split())
    few = weeks(tmp_path / "few", [0.002, 0.002, 0.003])
    assert run_command("compare", few[1], few[2])[0] == 4
    same = weeks(tmp_path / "same", [0.002, 0.00203, 0.00198, 0.00201, 0.002])
    assert run_command("compare", same[3], same[4])[0] == 0


def test_the_commit_is_in_the_record_and_in_the_table(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    git = ("git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=e")
    for command in (("init", "-q", "-b", "main"), ("commit", "-q", "--allow-empty", "-m", "first")):
        subprocess.run([*git, *command], check=True)
    found = revision(folder)
    assert found is not None
    assert (found["branch"], found["changed"], len(str(found["commit"]))) == ("main", False, 40)
    run = add(tmp_path / "runs", "a", 0.002)
    host = json.loads((run / "host.json").read_text())
    (run / "host.json").write_text(json.dumps(host | {"revisions": {"node": found | {"changed": True}}}))
    assert f"{str(found['commit'])[:8]}+" in run_command("history", tmp_path / "runs")[1]


def test_without_git_or_a_repository_there_is_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert revision(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert revision(Path(__file__).parent) is None
