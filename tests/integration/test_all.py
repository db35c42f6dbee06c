"""`jostle race --all`: every experiment on one page."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.real import Jostle, command, environment


@pytest.mark.alone
@pytest.mark.timeout(600)
def test_all_goes_on_where_it_was_killed(jostle_command: Jostle, tmp_path: Path) -> None:
    arguments = ["race", "--all", "threads", "--quick", "--rounds", "1", "--into", "everything"]
    process = subprocess.Popen(
        command(*arguments),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    runs = tmp_path / "everything" / "runs"
    give_up = time.monotonic() + 120
    while not list(runs.glob("*/trials/002-*")) and time.monotonic() < give_up:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
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
