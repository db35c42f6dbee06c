"""What of jostle is not the load goes behind it, and still records everything."""

import itertools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jostle.generator import LocalExecutor
from jostle.plan import parse_plan
from jostle.record import RunRecord
from jostle.runner.experiment import run_experiment
from jostle.runner.observer import Silent

if TYPE_CHECKING:
    from jostle._engine import Interval
    from jostle.runner.schedule import Planned

PLAN = """
title = "Who goes first?"
contestants = ["reference-null"]
rounds = 1
seed = 7
attention = "never"
processes = {processes}

[workload.w]
request = {{ get = "/" }}
load = {load}
"""
PACED = '{ rate = "200/s", for = "300ms" }'
SATURATED = '{ clients = 16, for = "1s" }'


def nice_of(pid: int) -> dict[str, int]:
    """Of a process's threads: the main one, those of the engine by name, and all others by number."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        key = "main" if int(task.name) == pid else name if name.startswith("jostle-") else task.name
        found[key] = os.getpriority(os.PRIO_PROCESS, int(task.name))
    return found


class Watching(Silent):
    """Looks at the threads of this process and of the generators when the first interval comes."""

    def __init__(self, executor: "Counted") -> None:
        self.executor = executor
        self.pids: list[int] = []
        self.own = 0
        self.threads: dict[int, dict[str, int]] = {}

    def interval(self, planned: "Planned", interval: "Interval") -> None:  # noqa: ARG002
        if not self.threads:
            self.pids = self.executor.pids
            self.own = os.getpriority(os.PRIO_PROCESS, 0)
            self.threads = {pid: nice_of(pid) for pid in {os.getpid(), *self.pids}}


class Counted:
    """Load of this machine, whose generators are known."""

    def __init__(self, processes: int) -> None:
        self.real = LocalExecutor(processes)
        self.here = self.real.here
        self.pids: list[int] = []

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        return self.real.prepare(spec)

    def start(self, spec: Mapping[str, Any]) -> Any:
        running = self.real.start(spec)
        self.pids = [generator.pid for generator in running.generators]
        return running


@pytest.mark.parametrize("processes", [1, 2])
def test_load_threads_keep_their_priority_and_the_rest_lowers_its_own(tmp_path: Path, processes: int) -> None:
    usual, lowered = os.getpriority(os.PRIO_PROCESS, 0), min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    watching = Watching(executor := Counted(processes))
    before = {**nice_of(os.getpid())}
    plan = parse_plan(PLAN.format(processes=processes, load=PACED), "test")
    run_experiment(plan, tmp_path, "first", 7, executor, watching)
    assert watching.own == lowered
    assert len(watching.pids) == processes
    for pid in watching.pids:
        threads = watching.threads[pid]
        assert threads["jostle-0"] == usual
        assert threads["jostle-collect"] == lowered
        assert threads["main"] == (usual if pid == os.getpid() else lowered)
    here = watching.threads[os.getpid()]
    started = {nice for name, nice in here.items() if name not in {*before, "main", "jostle-0"}}
    assert started == {lowered}
    assert set(nice_of(os.getpid()).values()) == {usual}


def test_a_saturated_generator_records_every_interval(tmp_path: Path) -> None:
    """Load, server and recording share one core, on which the load never sleeps."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        plan = parse_plan(PLAN.format(processes=1, load=SATURATED), "test")
        outcome = run_experiment(plan, tmp_path, "first", 7, LocalExecutor(), Silent())
    finally:
        os.sched_setaffinity(0, cores)
    (trial,) = RunRecord.open(outcome.folder).trials
    intervals = list(trial.intervals)
    assert trial.status == "ended"
    assert [interval["index"] for interval in intervals] == list(range(len(intervals)))
    for one, following in itertools.pairwise(intervals):
        assert one["end_ns"] == following["start_ns"]
    assert (intervals[0]["start_ns"], intervals[-1]["last"]) == (0, True)
    counts = [sum(series["outcomes"].values()) for one in intervals for series in one["series"]]
    assert sum(counts) == sum(load["sent"] for one in intervals for load in one["workloads"])
