"""The script of action.yml on a real repository: a planted delay is found, and nothing where none is."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from jostle.record import RunRecord
from support.real import command
from support.versions import git, repository_of_two

SCRIPT = Path(__file__).parents[2] / "scripts" / "ci" / "compare-commits"

pytestmark = [pytest.mark.alone, pytest.mark.timeout(400)]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder which whoever runs servers may enter."""
    with TemporaryDirectory(prefix="jostle-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def compared(place: Path, tail_ms: int) -> tuple[int, str]:
    """The exit code, and the comment."""
    top = repository_of_two(place / "app", tail_ms, rounds=5, seconds=1)
    path = f"{Path(command()[0]).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [SCRIPT, "bench/plan.toml", "HEAD~1", "HEAD", place / "into"],
        cwd=top,
        env={**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(place / "summary.md")},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert git(top, "status", "--porcelain") == ""
    comment = (place / "into" / "comment.md").read_text()
    assert (place / "summary.md").read_text() == comment
    return done.returncode, comment


def test_five_milliseconds_in_a_tenth_of_the_requests_are_found(place: Path) -> None:
    code, comment = compared(place, tail_ms=5)
    assert code == 1, comment
    assert "**✗ slower, measured twice**" in comment
    assert comment.count("- ✗ fail: slower, page") == 2
    assert "rounds find " in comment
    runs = [*(place / "into").glob("*-interleaved")]
    assert len(runs) == 2
    for run in runs:
        assert (run / "report.html").is_file()
        assert {trial.contestant for trial in RunRecord.open(run).trials} == {"app-before", "app-after"}


def test_nothing_is_found_where_nothing_is_slower(place: Path) -> None:
    code, comment = compared(place, tail_ms=0)
    assert code == 0, comment
    assert "**✗ slower" not in comment
