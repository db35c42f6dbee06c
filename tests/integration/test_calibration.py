"""`jostle doctor --calibrate`, and a run after it."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle.record import RunRecord
from support.real import command, environment

pytestmark = pytest.mark.alone

LOADS = ["1 client", "64 clients", "2,000 requests/s"]


@pytest.fixture
def cache() -> Iterator[str]:
    """A folder that the null server, which is another user where this is root, may read."""
    with tempfile.TemporaryDirectory(prefix="jostle-cache-") as folder:
        Path(folder).chmod(0o755)
        yield folder


def test_later_runs_carry_the_floor(tmp_path: Path, null_server: str, cache: str) -> None:
    own = {**environment(), "JOSTLE_CACHE": cache}

    def jostle(*arguments: str | Path) -> str:
        finished = subprocess.run(
            command(*arguments), cwd=tmp_path, capture_output=True, text=True, env=own, timeout=240
        )
        assert finished.returncode in (0, 1, 3), finished.stderr
        return finished.stdout

    assert "floor" in jostle("doctor", "--calibrate")
    said = jostle("hit", null_server, "-d", "300ms", "-c", "2", "--into", tmp_path / "runs")
    assert "Floor of this machine" in " ".join(said.split())
    assert f"jostle report {next((tmp_path / 'runs').iterdir())}" in " ".join(said.split())
    floor = RunRecord.open(next((tmp_path / "runs").iterdir())).host["floor"]
    apart = len(os.sched_getaffinity(0)) > 1
    loads = [(load["title"], load["awake"]) for load in floor["loads"]]
    assert loads == [(title, polling) for polling in (False, True)[: 1 + apart] for title in LOADS]
    assert (floor["slowdown"] is not None) == apart
    for load in floor["loads"]:
        assert 0 < load["response_s"]["p50"] <= load["response_s"]["p99"]
        assert 0 < load["cpu_s_per_request"] < 0.01
    assert floor["loads"][2]["pacing_s"]["p99"] > 0
