"""Two commits of a repository: checked out beside it, the plan's servers started there."""

import subprocess
from pathlib import Path

import pytest

from jostle.analysis.compare.reach import reach
from jostle.analysis.compare.two import compare_contestants
from jostle.errors import PlanError, UserError
from jostle.host.worktrees import checked_out
from jostle.plan import Plan
from jostle.plan.interleaved import interleaved
from jostle.plan.loading import load_plan
from jostle.plan.moved import moved
from jostle.record import RunRecord
from support.commands import run_command
from support.synthetic import Trial, closed, lognormal, make_run

PLAN = """
title = "t"
rounds = 5
contestants = ["app"]
[contestant.app]
folder = ".."
command = "./server {port}"
[workload.w]
request = { get = "/" }
load = { clients = 1, for = "1s" }
"""


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: the second adds the plan and its folder, and changes the server."""
    top = tmp_path / "app"
    (top / "bench").mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    (top / "server").write_text("old")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "old")
    (top / "server").write_text("new")
    (top / "bench" / "plan.toml").write_text(PLAN)
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "new")
    return top


def test_each_commit_has_a_folder_for_as_long_as_it_is_measured(repository: Path) -> None:
    with checked_out(repository / "bench", ("HEAD~1", "main")) as (top, trees):
        assert top == repository
        assert [(tree / "server").read_text() for tree in trees] == ["old", "new"]
        assert all(tree.parent.stat().st_mode & 0o5 for tree in trees)  # servers may run as another user
    assert not any(tree.exists() for tree in trees)
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_they_are_removed_whatever_happens(repository: Path) -> None:
    with pytest.raises(ZeroDivisionError), checked_out(repository, ("HEAD",)) as (_, trees):
        1 / 0  # noqa: B018
    assert not trees[0].exists()
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_a_commit_that_is_not_there_is_named_with_what_fetches_it(repository: Path) -> None:
    gone = checked_out(repository, ("origin/main", "HEAD"))
    with pytest.raises(UserError, match="origin/main is no commit of the repository") as caught, gone:
        pass
    assert "fetch-depth: 0" in caught.value.hint


def test_where_there_is_no_repository_git_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a git repository"), checked_out(tmp_path, ("HEAD",)):
        pass


def plan_of(repository: Path, change: tuple[str, str] = ("", "")) -> Plan:
    file = repository / "bench" / "plan.toml"
    file.write_text(PLAN.replace(*change))
    return load_plan(file)


def test_servers_are_started_in_the_folders_of_both_commits(repository: Path) -> None:
    plan = plan_of(repository)
    with checked_out(repository, ("HEAD~1", "HEAD")) as (top, trees):
        sides = [moved(plan, top, tree, "it") for tree in trees]
        both, pairs = interleaved(sides[0], sides[1], ("before", "after"))
    assert pairs == [("app-before", "app-after")]
    assert [both.contestant[name].folder for name in both.contestants] == [str(tree) for tree in trees]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('folder = ".."', ""), "contestant.app is the same in every commit"),
        (('folder = ".."', 'folder = "../.."'), "contestant.app is the same in every commit"),
        (('folder = ".."', 'folder = "."'), "HEAD~1 has no folder bench, in which contestant.app is started"),
    ],
)
def test_what_two_commits_cannot_differ_in_is_refused(
    repository: Path, change: tuple[str, str], says: str
) -> None:
    plan = plan_of(repository, change)
    with checked_out(repository, ("HEAD~1",)) as (top, trees), pytest.raises(PlanError, match=says):
        moved(plan, top, trees[0], "HEAD~1")


@pytest.mark.parametrize(
    "words", [["--commits", "main,", "p.toml"], ["--commits", "a,b", "p", "q"], ["--commits", "a", "p"]]
)
def test_the_command_takes_two_commits_and_one_plan(words: list[str]) -> None:
    with pytest.raises(PlanError, match="--commits takes two commits and one plan"):
        run_command("compare", *words)


def test_a_comparison_says_which_changes_its_rounds_find(tmp_path: Path) -> None:
    trials = [
        Trial(
            name,
            "page",
            number,
            closed(lognormal(0.002 * (1 + 0.02 * (number % 3)), 0.1), 2.0, seed=number * 10 + len(name)),
            2.0,
        )
        for number in range(1, 11)
        for name in ("a", "bb")
    ]
    record = RunRecord.open(make_run(tmp_path, trials))
    (compared,) = compare_contestants(record, "a", "bb").comparisons
    said = reach(compared)
    assert said.startswith("page: 10 rounds find ")
    assert all(f" % in the {metric}" in said for metric in ("p50", "p90", "p99"))
