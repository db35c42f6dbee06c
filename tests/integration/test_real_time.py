"""Threads on cores where no server may be: they busy-poll, or, if they are not to, those of a paced load go
before others in real time.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle.analysis.run import analyse
from jostle.errors import StartRefused
from jostle.generator import LocalExecutor
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.host.cores import real_time_allowed
from jostle.host.pressure import BUSY
from jostle.plan import Plan, parse_plan
from jostle.record import RunRecord
from jostle.runner.experiment import run_experiment
from jostle.runner.observer import unobserved
from support.real import Jostle, reference_server

PLAN = """
title = "Who goes first?"
contestants = ["reference-null"]
rounds = 1
seed = 7
busy-poll = "{busy_poll}"

[workload.w]
request = {{ get = "/" }}
load = """

LOADS = {
    "arrivals": '{ rate = "100/s", for = "200ms" }',
    "thinkers": '{ clients = 2, think = "10ms", for = "200ms" }',
    "at once": '{ clients = 2, for = "200ms" }',
}


def plan_of(load: str, busy_poll: str = "never", *, share_cores: bool = False) -> Plan:
    return parse_plan(PLAN.format(busy_poll=busy_poll) + load, "test", share_cores=share_cores)


def asked_for(folder: Path) -> tuple[bool, bool]:
    """Whether the load of the run's trial was to busy-poll, and to be in real time, by the record."""
    (trial,) = folder.glob("*/trials/*/trial.json")
    spec = json.loads(trial.read_text())["engine"]
    return spec["busy_poll"], spec["real_time"]


def policies() -> dict[str, int]:
    """Of this process's threads, by name."""
    found = {}
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            found[(task / "comm").read_text().strip()] = os.sched_getscheduler(int(task.name))
    return found


def test_the_threads_that_send_have_it_and_no_others(null_server: str) -> None:
    workload = plan_of('{ rate = "100/s", for = "1m" }').workload["w"]
    host, port = null_server.removeprefix("http://").split(":")
    spec = engine_spec("w", workload, Address(host=host, port=int(port)), seed=5, threads=2, real_time=True)
    if not real_time_allowed():
        with pytest.raises(StartRefused, match="not permitted"):
            LocalExecutor().start(spec)
        return
    running = LocalExecutor().start(spec)
    assert running.next_interval(20.0) is not None
    found = policies()
    running.stop()
    reset = os.SCHED_RR | os.SCHED_RESET_ON_FORK
    assert {name: policy for name, policy in found.items() if policy == reset} == {
        "jostle-0": reset,
        "jostle-1": reset,
    }
    assert found["jostle-collect"] == os.SCHED_OTHER


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("share_cores", [False, True])
def test_paced_loads_ask_for_it_on_cores_of_their_own(tmp_path: Path, load: str, share_cores: bool) -> None:
    plan = plan_of(LOADS[load], share_cores=share_cores)
    run_experiment(plan, tmp_path, "first", 7, LocalExecutor(), unobserved)
    apart = not share_cores and len(os.sched_getaffinity(0)) > 1
    assert asked_for(tmp_path) == (False, load != "at once" and apart and real_time_allowed())


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core only")
@pytest.mark.parametrize("pressure", [0.1, 0.9])
def test_on_cores_of_its_own_a_generator_waits_awake_if_nobody_else_works(
    tmp_path: Path, pressure: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jostle.host.facts.cpu_pressure", lambda: pressure)
    plan = plan_of(LOADS["arrivals"], "auto")
    run = run_experiment(plan, tmp_path, "first", 7, LocalExecutor(), unobserved)
    if pressure < BUSY:
        assert asked_for(tmp_path) == (True, False)
        result = analyse(RunRecord.open(run), distributions=False)
        assert (
            "The generator polled instead of sleeping: its wake-up delay is in no time of up to 20 ms, "
            "and is at most 0.3 % of longer ones."
        ) in " ".join([*result.of_the_generator, *result.notes])
    else:
        assert asked_for(tmp_path) == (False, real_time_allowed())
        assert json.loads((run / "host.json").read_text())["cpu_pressure"] == pressure, (
            "or the reader hears no reason"
        )


@contextlib.contextmanager
def only_on(core: int) -> Iterator[None]:
    """What is started inside may use no other."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def test_beside_a_server_of_somebody_else_only_on_other_cores(jostle_command: Jostle, tmp_path: Path) -> None:
    first, last = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
    options = ["--rate", "100/s", "-d", "200ms", "--into"]
    with contextlib.ExitStack() as stack:
        with only_on(first):
            url = stack.enter_context(reference_server("null"))
        jostle_command("hit", f"{url}/", *options, tmp_path / "anywhere")
        with only_on(last):
            jostle_command("hit", f"{url}/", *options, tmp_path / "apart")
    assert asked_for(tmp_path / "anywhere") == (False, False)
    # Not awake: the rest of jostle needs a part of the one core that is left.
    assert asked_for(tmp_path / "apart") == (False, first != last and real_time_allowed())
