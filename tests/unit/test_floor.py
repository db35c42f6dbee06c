"""The floor: kept for this machine only, and told beside results of the same kind of load."""

import json
from pathlib import Path

import pytest

from jostle.analysis.run import analyse
from jostle.doctor.calibration import LOADS, calibration_plan
from jostle.host.cache import cache_folder
from jostle.host.facts import host_facts, machine_and_version
from jostle.host.floor import Floor, FloorLoad, store_floor
from jostle.plan import ClosedLoad, OpenLoad
from jostle.record import RunRecord
from support.synthetic import Trial, closed, lognormal, make_run, open_loop

ONE_CLIENT: FloorLoad = {
    "kind": "closed",
    "title": "1 client",
    "awake": False,
    "verdict": "valid",
    "throughput_per_s": 20_000.0,
    "response_s": {"p50": 30e-6, "p99": 80e-6, "p99.9": None},
    "cpu_s_per_request": 5e-6,
    "pacing_s": None,
}
STREAM_2000: FloorLoad = {
    "kind": "open",
    "title": "2,000 requests/s",
    "awake": False,
    "verdict": "valid",
    "throughput_per_s": 2000.0,
    "response_s": {"p50": 60e-6, "p99": 0.002},
    "cpu_s_per_request": 9e-6,
    "pacing_s": {"p50": 40e-6, "p99": 0.001},
}
FLOOR: Floor = {
    "measured": "2026-11-20T10:00:00+0000",
    "load_average": 0.1,
    "slowdown": 0.001,
    "loads": [ONE_CLIENT, STREAM_2000],
}
TIMES = lognormal(0.002, 0.2)
STREAM = {"open": {"arrivals": "poisson", "rates": [{"from": 200.0, "to": 200.0}], "max_connections": 10_000}}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOSTLE_CACHE", str(tmp_path / "cache"))


def notes(tmp_path: Path, trial: Trial, floor: Floor | None) -> str:
    folder = make_run(tmp_path, [trial])
    known = json.loads((folder / "host.json").read_text())
    (folder / "host.json").write_text(json.dumps({**known, **({"floor": floor} if floor else {})}))
    return " ".join(analyse(RunRecord.open(folder), distributions=False).notes)


def test_a_closed_loop_is_held_beside_closed_loops(tmp_path: Path) -> None:
    said = notes(tmp_path, Trial("a", "w", 1, closed(TIMES, 5.0)), FLOOR)
    assert "(measured 2026-11-20): 1 client: p50 30 µs, p99 80 µs." in said
    assert "requests/s" not in said


def test_an_open_loop_is_held_beside_open_loops(tmp_path: Path) -> None:
    said = notes(tmp_path, Trial("a", "w", 1, open_loop(TIMES, 200.0, 5.0), load=STREAM), FLOOR)
    assert "2,000 requests/s: p50 60 µs, p99 2.00 ms" in said
    assert "1 client" not in said


def test_a_generator_that_waited_awake_is_held_beside_its_own_floor(tmp_path: Path) -> None:
    polling: FloorLoad = {**ONE_CLIENT, "awake": True, "response_s": {"p50": 12e-6, "p99": 20e-6}}
    trial = Trial("a", "w", 1, closed(TIMES, 5.0), busy_poll=True)
    said = notes(tmp_path, trial, {**FLOOR, "loads": [ONE_CLIENT, polling]})
    assert (
        "The generator polled instead of sleeping: its wake-up delay is in no time of up to 20 ms, "
        "and is at most 0.3 % of longer ones."
    ) in said
    assert "1 client, polling: p50 12 µs, p99 20 µs." in said
    assert "30 µs" not in said


def test_nothing_is_said_where_nothing_was_measured(tmp_path: Path) -> None:
    assert "Floor" not in notes(tmp_path, Trial("a", "w", 1, closed(TIMES, 5.0)), None)


def test_a_floor_belongs_to_one_machine() -> None:
    assert "floor" not in host_facts(1)
    store_floor(machine_and_version(), FLOOR)
    assert host_facts(1)["floor"] == FLOOR
    store_floor({**machine_and_version(), "kernel": "another"}, FLOOR)
    assert "floor" not in host_facts(1)


@pytest.mark.parametrize("text", ["torn {", "[]", "[" * 60_000])
def test_a_file_that_is_no_floor_is_none(text: str) -> None:
    (cache_folder() / "floor.json").write_text(text)
    assert "floor" not in host_facts(1)


def test_a_floor_of_another_shape_is_none() -> None:
    """Of an older version, or changed by hand: it must not end a run."""
    (cache_folder() / "floor.json").write_text(json.dumps({**machine_and_version(), "loads": [{}]}))
    assert "floor" not in host_facts(1)


@pytest.mark.parametrize("polling", [True, False])
def test_the_plan_has_the_three_loads(polling: bool) -> None:
    plan = calibration_plan(3.0, polling=polling)
    assert plan.busy_poll == ("always" if polling else "never")
    assert list(plan.workload) == list(LOADS)
    loads = [w.load for w in plan.workload.values()]
    assert [load.most_clients for load in loads if isinstance(load, ClosedLoad)] == [1, 64]
    assert [load.rate for load in loads if isinstance(load, OpenLoad)] == [2000.0]
