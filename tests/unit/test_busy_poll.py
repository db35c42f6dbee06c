"""Whether the generator busy-polls, decided for a trial: `busy-poll = "auto"`."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.run import analyse
from jostle.doctor import checks
from jostle.generator.busy_poll import SLOWDOWN, leaves_others_alone, with_busy_poll
from jostle.generator.partition import partition
from jostle.host import cores
from jostle.host.cores import Placement, kept_off
from jostle.host.floor import Floor
from jostle.host.pressure import cpu_pressure
from jostle.record import RunRecord
from support.synthetic import Trial, closed, lognormal, make_run

HYPERTHREADS = {0: {0, 2}, 1: {1, 3}, 2: {0, 2}, 3: {1, 3}}


def floor(slowdown: float | None) -> Floor:
    return {"measured": "2026-11-20T10:00:00+0000", "load_average": 0.1, "slowdown": slowdown, "loads": []}


def decided(processes: int = 1, **spec: Any) -> tuple[bool, bool]:
    """Whether it busy-polls, and is in real time."""
    whole = {"threads": 1, "cores": [1], "real_time": True, "busy_poll": None, **spec}
    made = with_busy_poll(whole, processes)
    return made["busy_poll"], made["real_time"]


@pytest.fixture
def hyperthreads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two physical cores with two threads each: 0 and 2, 1 and 3."""
    for module in ("jostle.generator.busy_poll", "jostle.host.cores"):
        monkeypatch.setattr(f"{module}.siblings", HYPERTHREADS.__getitem__)


def test_every_thread_needs_a_core_and_none_of_them_is_in_real_time_then() -> None:
    assert decided() == (True, False)
    assert decided(threads=2, cores=[2, 3]) == (True, False)
    assert decided(threads=2) == (False, True)
    assert decided(threads=2, cores=[1, 1]) == (False, True)


def test_threads_of_all_processes_count() -> None:
    """Three processes have a thread each at least, whatever the plan says."""
    assert decided(processes=3, cores=[2, 3]) == (False, True)
    assert decided(processes=2, threads=2, cores=[2, 3]) == (True, False)


def test_without_cores_of_their_own_one_is_left_to_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert decided(threads=2, cores=[]) == (True, False)
    assert decided(threads=3, cores=[]) == (False, True)


def test_what_the_plan_says_is_done() -> None:
    assert decided(busy_poll=True, threads=9) == (True, False)
    assert decided(busy_poll=False) == (False, True)


def test_every_part_of_a_load_waits_alike() -> None:
    spec = with_busy_poll({"threads": 2, "cores": [2, 3], "real_time": True, "busy_poll": None}, 2)
    assert [(part["cores"], part["busy_poll"]) for part in partition(spec, 2)] == [([2], True), ([3], True)]


def test_cores_with_nobody_beside_them_need_no_measurement() -> None:
    assert leaves_others_alone([1], [], None)


def test_a_server_on_the_same_core_would_starve() -> None:
    assert not leaves_others_alone([1], [0, 1], floor(0.0))


def test_a_container_s_cpu_quota_is_not_used_up_by_waiting() -> None:
    for quota, fine in [(1.5, False), (2.0, True), (None, True)]:
        assert leaves_others_alone([1], [0], floor(0.0), quota) == fine
    told = checks.check_busy_polling(Placement([0], [1], shared=False), None, 1.5)
    assert (told.state, told.remedy) == ("note", "run without a CPU quota")


def test_a_busy_machine_and_what_follows_stand_beside_the_times(tmp_path: Path) -> None:
    folder = make_run(tmp_path, [Trial("a", "w", 1, closed(lognormal(0.0005, 0.2), 2.0))])
    host = json.loads((folder / "host.json").read_text())
    for pressure, told in [(0.9, True), (0.1, False)]:
        (folder / "host.json").write_text(json.dumps({**host, "cpu_pressure": pressure}))
        notes = " ".join(analyse(RunRecord.open(folder), distributions=False).of_the_generator)
        assert ("programs waited for a core 90 % of the time just before the run" in notes) == told
        assert "waking up takes up to 50 µs, which may be 10 % of the p50" in notes


def test_pressure_is_a_share_of_the_time_or_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    found = cpu_pressure()
    assert found is None or 0 <= found <= 1
    monkeypatch.setattr("jostle.host.pressure.pressure_s", lambda _: None)
    assert cpu_pressure() is None


@pytest.mark.usefixtures("hyperthreads")
def test_beside_a_server_s_hyperthread_the_measurement_decides() -> None:
    assert leaves_others_alone([1, 3], [0, 2], None)
    for slowdown, fine in [(0.3, False), (SLOWDOWN, True), (None, False)]:
        assert leaves_others_alone([3], [0, 1, 2], floor(slowdown)) == fine
    assert not leaves_others_alone([3], [0, 1, 2], None)


@pytest.mark.usefixtures("hyperthreads")
def test_doctor_says_what_it_gives_here() -> None:
    beside, apart = Placement([0, 1, 2], [3], shared=False), Placement([0, 2], [1, 3], shared=False)
    unknown, slow = checks.check_busy_polling(beside, None), checks.check_busy_polling(beside, floor(0.3))
    assert (unknown.state, unknown.remedy) == ("note", "jostle doctor --calibrate")
    assert "30 % slower" in slow.message
    assert checks.check_busy_polling(apart, None).state == "good"
    assert checks.check_busy_polling(Placement([0], [0], shared=True), None).state == "note"


@pytest.mark.usefixtures("hyperthreads")
def test_generator_and_server_divide_no_physical_core_where_there_are_two() -> None:
    for cores_here, server, generator in [
        ([0, 1, 2, 3], [0, 2], [1, 3]),
        ([0, 1, 2], [0, 2], [1]),
        ([0, 2], [0], [2]),
    ]:
        assert cores.place(cores_here, share=False) == Placement(server, generator, shared=False)


def test_without_hyperthreads_the_generator_has_the_last_quarter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "siblings", lambda core: {core})
    for count, generator in [(2, [1]), (3, [2]), (8, [6, 7]), (9, [7, 8])]:
        assert cores.place(list(range(count)), share=False).generator_cores == generator
    assert cores.place([0, 1], share=True).shared


def test_hyperthreads_are_read_from_the_kernel() -> None:
    assert cores._cores_in("0-1,8\n") == {0, 1, 8}
    assert cores._cores_in("5") == {5}
    assert 0 in cores.siblings(0)
    assert cores.siblings(99_999) == {99_999}


def affinities() -> set[frozenset[int]]:
    return {frozenset(os.sched_getaffinity(int(t.name))) for t in Path("/proc/self/task").iterdir()}


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core only")
def test_python_leaves_the_cores_of_threads_that_never_sleep() -> None:
    own = os.sched_getaffinity(0)
    with kept_off([max(own)]):
        assert affinities() == {frozenset(own - {max(own)})}
    assert affinities() == {frozenset(own)}


def test_python_stays_where_it_would_have_no_core_left() -> None:
    own = os.sched_getaffinity(0)
    for taken in (own, set[int]()):
        with kept_off(taken):
            assert os.sched_getaffinity(0) == own
