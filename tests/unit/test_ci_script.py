"""scripts/ci/compare-commits: what it writes, however a comparison ends. jostle and gh are stand-ins."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "ci" / "compare-commits"
TABLE = "# after against before\n\n- {mark}: slower, page\n\n| metric |\n| --- |\n"
JOSTLE = """
echo "$* summary=${{GITHUB_STEP_SUMMARY:-}}" >>did
while [ "$1" != compare ] && [ "$1" != report ]; do shift; done
[ "$1" = compare ] || {{ echo "✗ invalid  the run"; exit 3; }}  # often where a comparison is not
number=$(grep -c '^compare' did)
mkdir -p into/2026-0$number-interleaved
while [ "$1" != --output ]; do shift; done
[ "$number" = 1 ] || {{ {writes_again}
exit {again}; }}
{writes}
exit {code}
"""
GH = """
echo "gh $*" >>did
case "$*" in *--paginate*) {found} ;; *) {written} ;; esac
"""


def program(path: Path, does: str) -> None:
    path.write_text(f"#!/bin/bash\n{does}\n")
    path.chmod(0o755)


def _written(mark: str | None) -> str:
    """A command that writes the table, or none."""
    return f"cat >$2 <<'END'\n{TABLE.format(mark=mark)}END\n" if mark else "true"


class Job:
    """A job of a build server, in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()

    def run(
        self,
        code: int,
        mark: str | None,
        *conditions: str,
        again: tuple[int, str | None] = (1, "✗ fail"),
        **environment: str,
    ) -> int:
        """The exit code, if a run ends with `code` and `mark` in its table, and a second one with `again`."""
        said = {"writes": _written(mark), "code": code, "writes_again": _written(again[1]), "again": again[0]}
        program(self.folder / "bin" / "jostle", JOSTLE.format(**said))
        known = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", **environment}
        words = [SCRIPT, "plan.toml", "main", "HEAD", "into", *conditions]
        done = subprocess.run(words, cwd=self.folder, env=known, capture_output=True, text=True)
        self.said = done.stderr
        return done.returncode

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


@pytest.mark.parametrize(
    ("code", "mark", "says", "then"),
    [
        (0, "✓ pass", "✓ no change for the worse was found", "Nothing."),
        (0, "? undecided", "? not decided", "More `rounds`"),
        (1, "✗ fail", "✗ slower, measured twice", "jostle compare plan.toml --commits main,HEAD"),
        (3, "? undecided", "✗ not measured to the end", "The log of this job"),
        (2, None, "✗ not compared", "The log of this job"),
    ],
)
def test_the_comment_begins_with_the_verdict_and_what_to_do(
    job: Job, code: int, mark: str | None, says: str, then: str
) -> None:
    assert job.run(code, mark) == code
    first, verdict, _, what, *rest = job.read("into/comment.md").splitlines()
    assert first == "<!-- jostle: plan.toml -->"
    assert verdict == f"**{says}**"
    assert what.startswith("**What to do:** ")
    assert then in job.read("into/comment.md")
    assert ("| metric |" in rest) is (mark is not None)
    runs = 2 if code == 1 else 1
    assert rest[-3 - runs :] == ["~~~~text", *["✗ invalid  the run"] * runs, "~~~~", "</details>"]


@pytest.mark.parametrize(
    ("again", "says", "ends"),
    [
        ((1, "✗ fail"), "**✗ slower, measured twice**", 1),
        ((0, "✓ pass"), "**? slower at first, but not when it was measured again**", 0),
        ((0, "? undecided"), "**? slower at first, but not when it was measured again**", 0),
        ((3, "? undecided"), "**✗ not measured to the end**", 3),
        ((2, None), "**✗ not measured to the end**", 2),
    ],
)
def test_what_a_run_finds_is_measured_again_and_fails_if_it_is_found_again(
    job: Job, again: tuple[int, str | None], says: str, ends: int
) -> None:
    assert job.run(1, "✗ fail", again=again) == ends
    comment = job.read("into/comment.md")
    assert comment.splitlines()[1] == says
    assert comment.count("## after against before\n") == 1
    assert comment.count("## after against before, measured again\n") == (again[1] is not None)
    assert job.read("did").count("--commits") == 2


def test_what_is_not_found_is_measured_once(job: Job) -> None:
    assert job.run(0, "✓ pass") == 0
    assert job.read("did").count("--commits") == 1


def test_the_summary_of_the_job_is_the_comment_and_is_written_once(job: Job) -> None:
    summary = job.folder / "summary.md"
    assert job.run(0, "✓ pass", GITHUB_STEP_SUMMARY=str(summary)) == 0
    assert summary.read_text() == job.read("into/comment.md")
    assert all(line.endswith("summary=") for line in job.read("did").splitlines() if "compare" in line)


def test_conditions_and_commits_are_those_of_the_job(job: Job) -> None:
    job.run(0, "✓ pass", "slower by 3 %", "p99 > +20 %")
    compare, report = job.read("did").splitlines()
    assert compare.startswith(
        "compare plan.toml --commits main,HEAD --fail-if slower by 3 % --fail-if p99 > +20 %"
    )
    assert "--undecided pass" in compare
    assert report.startswith("report into/2026-01-interleaved")


@pytest.mark.parametrize(("known", "call"), [("", "issues/7/comments --field"), ("99", "PATCH")])
def test_a_pull_request_has_one_comment(job: Job, known: str, call: str) -> None:
    program(job.folder / "bin" / "gh", GH.format(found=f"echo {known}", written="true"))
    assert job.run(1, "✗ fail", PULL_REQUEST="7", GITHUB_REPOSITORY="o/r") == 1
    *_, search, write = job.read("did").splitlines()
    assert "startswith" in search
    assert call in write


def test_without_the_permission_to_comment_nothing_else_fails(job: Job) -> None:
    program(job.folder / "bin" / "gh", GH.format(found="exit 1", written="exit 1"))
    assert job.run(0, "✓ pass", PULL_REQUEST="7", GITHUB_REPOSITORY="o/r") == 0
    assert "pull-requests: write" in job.said


@pytest.mark.parametrize("name", ["action.yml", "ci/gitlab.yml"])
def test_both_build_servers_run_the_script_with_all_it_takes(name: str) -> None:
    text = (ROOT / name).read_text()
    (line,) = [
        line for line in text.splitlines() if "/scripts/ci/compare-commits" in line and "#" not in line
    ]
    assert len(line.split("compare-commits", 1)[1].replace('"', "").split()) >= 5
