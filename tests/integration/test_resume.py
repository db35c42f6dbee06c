"""`jostle run --resume`: a killed or stopped run is finished, and nothing is done twice."""

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jostle.generator import Running
from jostle.generator.processes import LocalExecutor
from jostle.plan import parse_plan
from jostle.runner.experiment import run_experiment
from jostle.runner.observer import RunFolder
from support.real import SILENTLY, Jostle, as_json, jostle_running
from support.waiting import eventually

if TYPE_CHECKING:
    from jostle._engine import Interval

PLAN = """
title = "Is it finished?"
contestants = ["reference-run-to-completion", "reference-null"]
rounds = 3
repeats = false
seed = 7

[workload.hello]
request = { get = "/hello" }
load = { clients = 2, for = "1s" }
"""


def journal(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "journal.ndjson").read_text().splitlines()]


@contextmanager
def started(tmp_path: Path, trial: int) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A run that is in the middle of its `trial`th trial, with an interval of it recorded."""
    (tmp_path / "plan.toml").write_text(PLAN)

    def has_come_so_far() -> bool:
        return any(tmp_path.glob(f"runs/*/trials/{trial:03d}-*/intervals.hlog"))

    with jostle_running("run", "plan.toml", cwd=tmp_path, **SILENTLY) as process:
        eventually(has_come_so_far, "the run did not come so far", 60)
        (run,) = (tmp_path / "runs").iterdir()
        yield process, run


def test_a_killed_run_is_finished_with_its_own_order_and_arrivals(
    jostle_command: Jostle, tmp_path: Path
) -> None:
    with started(tmp_path, 3) as (process, run):
        process.kill()
    before = {path.name: path.stat().st_mtime_ns for path in run.glob("trials/00[12]-*/outcome.json")}
    result = as_json(jostle_command("run", "--resume", run, "--json", "--no-pages"))

    assert result["complete"]
    assert [trial["status"] for trial in result["trials"]] == ["ended"] * 6
    assert [cell["rounds"] for cell in result["summaries"]] == [3, 3]
    planned = [entry for entry in journal(run) if entry["event"] == "trial planned"]
    assert [(t["number"], t["contestant"], t["round"]) for t in result["trials"]] == [
        (p["number"], p["contestant"], p["round"]) for p in planned
    ]
    assert before == {path.name: path.stat().st_mtime_ns for path in run.glob("trials/00[12]-*/outcome.json")}
    seeds = {
        (trial["round"], trial["engine"]["seed"])
        for trial in (json.loads(path.read_text()) for path in run.glob("trials/*/trial.json"))
    }
    assert len(seeds) == 3  # contestants of one round meet the same arrivals, before and after

    (aside,) = (run / "cut-short").iterdir()
    assert aside.name.startswith("003-")
    events = [entry["event"] for entry in journal(run)]
    assert events.count("run started") == events.count("run resumed") == events.count("run ended") == 1
    assert next(e for e in journal(run) if e["event"] == "trial set aside")["number"] == 3
    assert any("resumed with 2 trials done and 4 left" in note for note in result["notes"])

    again = jostle_command("run", "--resume", run)
    assert again.returncode == jostle_command("report", run).returncode
    assert "complete: nothing to do" in again.stderr


def test_a_run_is_written_by_one_at_a_time(jostle_command: Jostle, tmp_path: Path) -> None:
    with started(tmp_path, 1) as (process, run):
        refused = jostle_command("run", "--resume", run)
        assert refused.returncode == 2
        assert "another jostle" in refused.stderr
        process.send_signal(signal.SIGINT)
        process.wait(30)
    assert journal(run)[-1]["event"] == "run stopped"
    result = as_json(jostle_command("run", "--resume", run, "--json", "--no-pages"))
    assert result["complete"]
    assert len(result["trials"]) == 6


class StoppedAt:
    """Load of this process; Ctrl-C comes just as an interval does, the `when`th (-1: the last)."""

    def __init__(self, when: int) -> None:
        self.real = LocalExecutor()
        self.here = self.real.here
        self.when = when
        self.sent = 0

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        return self.real.prepare(spec)

    def start(self, spec: Mapping[str, Any]) -> Running:
        running = self.real.start(spec)
        give, count = running.next_interval, 0

        def next_interval(timeout_s: float) -> "Interval | None":
            nonlocal count
            interval = give(timeout_s)
            if interval is not None:
                count += 1
                self.sent += sum(load["sent"] for load in interval["workloads"])
                if count == self.when or (self.when == -1 and interval["last"]):
                    signal.raise_signal(signal.SIGINT)
            return interval

        running.next_interval = next_interval  # type: ignore[method-assign]
        return running


@pytest.mark.parametrize("when", [1, 2, -1])
def test_what_comes_with_ctrl_c_is_recorded(tmp_path: Path, when: int) -> None:
    executor = StoppedAt(when)
    folder = RunFolder()
    with pytest.raises(KeyboardInterrupt):
        run_experiment(parse_plan(PLAN, "plan.toml"), tmp_path, "stop", 7, executor, folder)
    run = folder.path
    assert run is not None
    assert journal(run)[-1]["event"] == "run stopped"
    (trial,) = (run / "trials").iterdir()
    intervals = [json.loads(line) for line in (trial / "intervals.ndjson").read_text().splitlines()]
    assert intervals[-1]["last"]
    assert sum(load["sent"] for one in intervals for load in one["workloads"]) == executor.sent > 0
    assert json.loads((trial / "outcome.json").read_text())["status"] == "cut short"


def test_what_cannot_be_resumed_is_refused_by_name(jostle_command: Jostle, tmp_path: Path) -> None:
    with started(tmp_path, 1) as (process, run):
        process.kill()
    for arguments, word in (
        (["--resume", run, "--rounds", "9"], "--rounds"),
        (["plan.toml", "--resume", run], "plan.toml"),
        (["--resume", run, "--into", "elsewhere"], "--into"),
        (["--resume", tmp_path], "is not a run"),
        ([], "which plan?"),
    ):
        refused = jostle_command("run", *arguments)
        assert refused.returncode == 2, refused.stderr
        assert word in refused.stderr
        assert "Traceback" not in refused.stderr
    host = json.loads((run / "host.json").read_text())
    (run / "host.json").write_text(json.dumps(host | {"format": 99}))
    refused = jostle_command("run", "--resume", run)
    assert refused.returncode == 2
    assert "format 99" in refused.stderr
    assert run.name in refused.stderr
