"""`jostle race --all`: every experiment on one page."""

import json
from pathlib import Path

import pytest

from support.real import SILENTLY, Jostle, jostle_running
from support.waiting import eventually


@pytest.mark.timeout(600)
def test_all_goes_on_where_it_was_killed(jostle_command: Jostle, tmp_path: Path) -> None:
    arguments = ["race", "--all", "threads", "--quick", "--rounds", "1", "--into", "everything"]
    runs = tmp_path / "everything" / "runs"
    with jostle_running(*arguments, cwd=tmp_path, **SILENTLY) as process:
        eventually(lambda: any(runs.glob("*/trials/002-*")), "no second trial has begun", 120)
        process.kill()
    finished = jostle_command(*arguments, timeout=500)
    assert "are left" in finished.stderr
    assert len(list(runs.iterdir())) == 1
    page = (tmp_path / "everything" / "index.html").read_text()
    assert "We are roughly consuming 1.65 kilobytes per thread" in page
    data = json.loads((tmp_path / "everything" / "results.json").read_text())
    (experiment,) = data["experiments"]
    assert experiment["result"]["complete"]
    again = jostle_command(*arguments)
    assert "of 1" not in again.stderr
    assert list((tmp_path / "everything" / "pictures").glob("threads-*.png"))
    assert (tmp_path / "everything" / "reports" / "threads.html").is_file()
