"""Whatever jostle prints to, and however that goes away: quiet and right, and the record is whole."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from jostle.record import RunRecord
from support.real import SILENTLY, Jostle, command, environment, jostle_running, recorded, reference_server

PLAN = """
title = "What is printed where"
contestants = ["reference-null", "reference-run-to-completion"]
rounds = 2
[workload.hello]
request = { get = "/hello" }
load = { clients = 2, for = "200ms" }
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded run."""
    base = tmp_path_factory.mktemp("run")
    with reference_server("run-to-completion") as url:
        words = command("hit", f"{url}/hello", "-n", "300", "--into", base)
        done = subprocess.run(words, capture_output=True, env=environment())
    assert done.returncode in (0, 3), done.stderr  # 3: invalid, where the machine stood still
    (folder,) = base.iterdir()
    return folder


def folder_in(base: Path) -> Path:
    (folder,) = base.iterdir()
    return folder


def test_a_terminal_that_is_closed_ends_the_run_whole(tmp_path: Path) -> None:
    with (
        reference_server("run-to-completion") as url,
        jostle_running("hit", f"{url}/hello", "-d", "60s", "--into", tmp_path / "runs") as jostle,
    ):
        recorded(tmp_path / "runs", 2_000)
        jostle.send_signal(signal.SIGHUP)
        output, complaints = jostle.communicate(timeout=30)
    assert jostle.returncode == 3
    assert "Traceback" not in complaints
    assert "p50" in output
    record = RunRecord.open(folder_in(tmp_path / "runs"))
    assert record.journal[-1]["event"] == "run stopped"
    assert [trial.status for trial in record.trials] == ["cut short"]


def test_a_pipe_that_is_closed_on_progress_ends_no_run(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    read, write = os.pipe()
    os.close(read)
    finished = subprocess.run(
        command("run", "plan.toml", "--json", "--no-pages"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=write,
        env=environment(),
        timeout=60,
    )
    os.close(write)
    assert json.loads(finished.stdout)["complete"]
    assert RunRecord.open(folder_in(tmp_path / "runs")).complete


def test_a_reader_that_has_seen_enough_is_no_mistake(run: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        command("report", run, "--format", "md"),
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 3, "1 would mean a failed requirement"


def test_a_terminal_that_is_not_utf_8(run: Path) -> None:
    env = environment() | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command("report", run, "--format", "md"), capture_output=True, env=env)
    assert done.returncode == 0, done.stderr
    assert b"p99" in done.stdout
    assert done.stderr == b""


def test_a_report_of_a_run_that_goes_on_says_so(tmp_path: Path, jostle_command: Jostle) -> None:
    with (
        reference_server("run-to-completion") as url,
        jostle_running("hit", f"{url}/hello", "-d", "60s", "--into", tmp_path / "runs", **SILENTLY) as jostle,
    ):
        recorded(tmp_path / "runs", 2_000)
        folder = folder_in(tmp_path / "runs")
        shown = jostle_command("report", folder, "--full")
        jostle.kill()
    after = jostle_command("report", folder, "--full")
    assert "it is still being written" in " ".join(shown.stdout.split())
    assert "its journal just ends: jostle was killed" in " ".join(after.stdout.split())
    assert "Traceback" not in shown.stderr + after.stderr
