"""Shares, room and merging: pure, so that several generators are one plan."""

import io
import os
import queue
import struct
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jostle.analysis.stats.sample import slots
from jostle.errors import PlanError, StartRefused
from jostle.generator import processes
from jostle.generator.files_and_ports import processes_for, with_sources
from jostle.generator.merge import STATE, Merger
from jostle.generator.partition import partition
from jostle.generator.wire import read_frame, write_frame
from jostle.histogram import decode
from jostle.host.limits import RESERVED_FILES
from support.synthetic import engine_interval, histogram

SECOND = 1_000_000_000


def spec(clients: int = 10, host: str = "127.0.0.1", **target: Any) -> dict[str, Any]:
    where = {"host": host, "port": 80, "connect_to": [], "source_addresses": [], **target}
    load = {"closed": {"clients": clients}}
    return {"threads": 2, "cores": [4, 5, 6], "workloads": [{"name": "w", "target": where, "load": load}]}


def sources(prepared: dict[str, Any]) -> list[str]:
    found: list[str] = prepared["workloads"][0]["target"]["source_addresses"]
    return found


def test_every_share_is_the_plan_and_a_place_in_it() -> None:
    plan = {**spec(), "threads": 4}
    dealt = partition(plan, 3)
    assert [s["share"] for s in dealt] == [{"index": i, "of": 3} for i in range(3)]
    assert [s["cores"] for s in dealt] == [[4, 5], [6, 4], [5, 6]]
    for share in dealt:
        assert share["threads"] == 2  # at least 4 in all, the same number in each
        assert share["workloads"] == plan["workloads"]


def test_without_pinning_nobody_is_pinned() -> None:
    assert [s["cores"] for s in partition({**spec(), "cores": []}, 2)] == [[], []]


@pytest.mark.parametrize(
    ("connections", "processes"), [(1, 1), (19_800, 1), (19_801, 2), (39_600, 2), (100_000, 6)]
)
def test_as_many_processes_as_the_connections_need(connections: int, processes: int) -> None:
    assert processes_for(connections, 20_000, cores=2) == processes
    assert processes_for(connections, 20_000, wanted=processes + 1) == processes + 1
    assert processes_for(connections, None) == 1


def test_too_few_processes_are_refused_with_the_number_needed() -> None:
    with pytest.raises(StartRefused, match="need 6 generator processes") as refused:
        processes_for(100_000, 20_000, wanted=2)
    assert (
        f"--processes 6) or leave it out, or raise the limit to {50_000 + RESERVED_FILES}"
        in refused.value.hint
    )


def test_very_many_processes_must_be_meant() -> None:
    with pytest.raises(StartRefused, match="need 51 generator processes of 20,000 open files"):
        processes_for(1_000_000, 20_000, cores=2)
    assert processes_for(1_000_000, 20_000, wanted=51, cores=2) == 51


def test_a_limit_that_holds_nothing_is_told() -> None:
    with pytest.raises(StartRefused, match="too few for any load"):
        processes_for(1, RESERVED_FILES)


def test_ports_are_found_on_loopback_and_asked_for_elsewhere() -> None:
    assert sources(with_sources(spec(14_000), 28_000)) == []
    assert sources(with_sources(spec(14_001), 28_000)) == ["127.0.0.1", "127.0.0.2"]
    assert sources(with_sources(spec(100_000, "localhost"), 28_000))[-1] == "127.0.0.8"
    assert sources(with_sources(spec(28_000, "192.0.2.1"), 28_000)) == []
    with pytest.raises(StartRefused, match="need 4 local addresses"):
        with_sources(spec(100_000, "192.0.2.1"), 28_000)


def test_more_destinations_need_fewer_addresses_and_given_ones_count() -> None:
    two = ["127.0.0.1:80", "127.0.0.1:81"]
    assert sources(with_sources(spec(28_000, connect_to=two), 28_000)) == []
    assert len(sources(with_sources(spec(28_001, connect_to=two), 28_000))) == 2
    for host in ("192.0.2.1", "127.0.0.1"):
        given_ones = ["127.0.0.7", "127.0.0.8"]
        enough = with_sources(spec(56_000, host, source_addresses=given_ones), 28_000)
        assert sources(enough) == given_ones
    assert sources(with_sources(spec(99_999, connect_to=["unix:/run/x"]), 28_000)) == []


def test_an_address_that_no_connection_can_come_from_is_refused() -> None:
    with pytest.raises(
        PlanError, match=r"no connection can come from ::1: all go over IPv4, to 127\.0\.0\.1"
    ):
        with_sources(spec(1, source_addresses=["127.0.0.2", "::1"]), 28_000)
    with_sources(spec(1, "example.org", source_addresses=["127.0.0.2", "::1"]), 28_000)
    with_sources(spec(1, connect_to=["127.0.0.1:80", "[::1]:80"], source_addresses=["::1"]), 28_000)


def test_workloads_that_go_to_the_same_place_share_its_ports() -> None:
    one = spec(20_000)["workloads"][0]
    both = with_sources({**spec(), "workloads": [one, {**one, "name": "background"}]}, 28_000)
    assert [len(w["target"]["source_addresses"]) for w in both["workloads"]] == [3, 3]


@given(st.recursive(st.binary(max_size=99) | st.integers() | st.text(), st.lists, max_leaves=20))
def test_frames_bring_back_what_was_written(value: Any) -> None:
    file = io.BytesIO()
    write_frame(file, {"value": value, "again": {"value": value}})
    write_frame(file, {})
    whole = file.getvalue()
    file.seek(0)
    assert read_frame(file) == {"value": value, "again": {"value": value}}
    assert (read_frame(file), read_frame(file)) == ({}, None)
    assert read_frame(io.BytesIO(whole[: len(whole) // 3])) is None


def interval(index: int, seconds: list[float], *, last: bool = False, **more: Any) -> Any:
    """One second of one generator with one thread, in which requests took so long."""
    series = {
        "workload": 0,
        "request": 0,
        "phase": 0,
        "outcomes": {"ok": len(seconds)},
        "statuses": {"200": 2, str(300 + len(seconds)): 1},
        "failures": {"wrong_status": {"503": 1, str(400 + len(seconds)): 2}},
        "histograms": {"response": histogram(seconds)} if seconds else {},
        "service_sum_ns": 1,
        "response_sum_ns": 2,
        "busy_sum_ns": 3,
        "bytes_in": 4,
        "bytes_out": 5,
    }
    found = {
        "index": index,
        "start_ns": index * SECOND,
        "end_ns": (index + 1) * SECOND,
        "last": last,
        "open_files": 10,
        "ports": [{"from": "", "to": "127.0.0.1:80", "held": 3}],
        "loop_lag": histogram([1e-5]),
        "series": [series] if seconds else [],
        "workloads": [dict.fromkeys(STATE, 1) | {"excess": {"more": 1}, "dismissals": {}, "passed_over": {}}],
        "threads": [{"cpu_ns": 7, "wall_ns": SECOND}],
    }
    return engine_interval(**{**found, **more})


def all_of(merging: Merger) -> list[Any]:
    found = []
    while (merged := merging.next()) is not None:
        found.append(merged)
    return found


times = st.lists(st.floats(1e-6, 3000.0), max_size=30)


@settings(max_examples=25)  # the decoder of the check itself takes its time
@given(st.lists(times, min_size=2, max_size=4))
def test_merging_loses_nothing(each: list[list[float]]) -> None:
    merging = Merger(len(each), 1, 1)
    for generator, seconds in enumerate(each):
        assert all_of(merging) == []
        merging.add(generator, interval(0, seconds, last=True))
    (merged,) = all_of(merging)
    together = [t for seconds in each for t in seconds]
    assert merged["last"]
    texts = {"excess": {"more": len(each)}, "dismissals": {}, "passed_over": {}}
    assert merged["workloads"] == [dict.fromkeys(STATE, len(each)) | texts]
    assert len(merged["threads"]) == len(each)
    assert merged["loop_lag"]["count"] == len(each)
    assert merged["ports"] == [{"from": "", "to": "127.0.0.1:80", "held": 3 * len(each)}]
    if together:
        (series,) = merged["series"]
        expected = histogram(together)
        assert series["outcomes"] == {"ok": len(together)}
        assert series["statuses"]["200"] == 2 * sum(map(bool, each))
        assert sum(series["statuses"].values()) == 3 * sum(map(bool, each))
        codes = series["failures"]["wrong_status"]
        assert codes["503"] == sum(map(bool, each))
        assert sum(codes.values()) == 3 * sum(map(bool, each))
        assert series["histograms"]["response"]["count"] == expected["count"]
        assert decoded(series["histograms"]["response"]) == decoded(expected)
        assert series["busy_sum_ns"] == 3 * sum(map(bool, each))
    else:
        assert merged["series"] == []


def decoded(hist: Any) -> list[tuple[int, int]]:
    _, values, counts = slots(decode(hist["v2"]))
    return list(zip(values.tolist(), counts.tolist(), strict=True))


def test_ports_of_different_machines_are_not_added_up() -> None:
    merging = Merger(3, 1, 1)
    for generator, (machine, held) in enumerate([("a", 3), ("b", 4), ("a", 2)]):
        part = interval(0, [0.1], last=True, ports=[{"from": "", "to": "10.0.0.9:80", "held": held}])
        merging.add(generator, part, machine)
    (merged,) = all_of(merging)
    assert merged["ports"] == [{"from": "", "to": "10.0.0.9:80", "held": 5}]


def test_an_interval_waits_for_all_its_parts() -> None:
    merging = Merger(2, 1, 1)
    merging.add(0, interval(0, [1.0]))
    merging.add(0, interval(1, [1.0], last=True))
    assert all_of(merging) == []
    merging.add(1, interval(0, [1.0, 2.0]))
    (first,) = all_of(merging)
    assert (first["index"], first["series"][0]["outcomes"]) == (0, {"ok": 3})
    merging.add(1, interval(1, []))
    merging.add(1, interval(2, [3.0], last=True))
    rest = all_of(merging)
    assert [(i["index"], i["last"]) for i in rest] == [(1, False), (2, True)]
    assert rest[1]["threads"] == [{"cpu_ns": 0, "wall_ns": 0}, {"cpu_ns": 7, "wall_ns": SECOND}]
    assert [g["generator"] for g in rest[1]["generators"]] == [2]


def test_one_that_died_is_not_waited_for() -> None:
    merging = Merger(2, 1, 1)
    merging.add(0, interval(0, [1.0]))
    merging.add(1, interval(0, [1.0]))
    merging.add(1, interval(1, [1.0], last=True))
    assert [i["last"] for i in all_of(merging)] == [False]
    assert merging.drop(0) == SECOND
    (rest,) = all_of(merging)
    assert (rest["last"], rest["series"][0]["outcomes"]) == (True, {"ok": 1})


def test_there_is_a_last_interval_even_if_it_is_empty() -> None:
    merging = Merger(2, 1, 1)
    merging.add(0, interval(0, [1.0], last=True))
    merging.add(1, interval(0, [1.0]))
    assert [i["last"] for i in all_of(merging)] == [False]
    merging.drop(1)
    (closing,) = all_of(merging)
    assert closing["last"]
    assert (closing["start_ns"], closing["end_ns"], closing["series"]) == (SECOND, SECOND, [])
    assert closing["workloads"] == [
        dict.fromkeys(STATE, 0) | {"excess": {}, "dismissals": {}, "passed_over": {}}
    ]
    assert all_of(merging) == []


def test_rows_are_put_one_behind_the_other() -> None:
    merging = Merger(2, 1, 1)
    rows = [{"client": os.urandom(4), "end_ns": os.urandom(8)} for _ in range(2)]
    for generator in range(2):
        merging.add(generator, interval(0, [1.0], last=True, rows=rows[generator]))
    (merged,) = all_of(merging)
    assert merged["rows"] == {name: rows[0][name] + rows[1][name] for name in ("client", "end_ns")}


def test_connections_that_are_closed_keep_their_ports_for_a_while() -> None:
    """50,000 requests without keep-alive: each leaves a port in TIME_WAIT."""
    plan = spec(50)
    load = plan["workloads"][0]["load"]["closed"]
    plan["workloads"][0]["load"] = {"closed": {**load, "requests": 50_000, "requests_per_connection": 1}}
    assert len(sources(with_sources(plan, 28_000))) == 4
    plan["workloads"][0]["load"]["closed"]["requests_per_connection"] = 100
    assert sources(with_sources(plan, 28_000)) == []
    plan["workloads"][0]["target"]["host"] = "192.0.2.1"
    assert sources(with_sources(plan, 28_000)) == []


@pytest.mark.parametrize(("begins_in_s", "killed"), [(100, False), (-100, True)])
def test_the_time_until_the_load_begins_is_no_silence(
    monkeypatch: pytest.MonkeyPatch, begins_in_s: float, killed: bool
) -> None:
    monkeypatch.setattr(processes, "SILENT_S", -1.0)  # any time is too long
    child = SimpleNamespace(index=0, name="g", process=SimpleNamespace(pid=1), kills=[])
    child.kill = lambda: child.kills.append(1)
    group = processes._GeneratorGroup(
        [cast("processes._Child", child)],
        queue.SimpleQueue(),
        [0],
        [],
        spec() | {"interval_ns": 0},
        time.monotonic() + begins_in_s,
    )
    assert group.next_interval(0.0) is None
    assert bool(child.kills) == killed


@pytest.mark.parametrize(
    "sent", [b"\xff" * 16, struct.pack("<II", 2, 0) + b"[]", struct.pack("<II", 1, 0) + b"{"]
)
def test_a_generator_that_sends_what_is_no_frame_has_ended(sent: bytes) -> None:
    """Else nobody would drop it, and what the others send would wait for it for ever."""
    inbox: processes.Inbox = queue.SimpleQueue()
    pipe = io.BytesIO(sent)
    child = cast("processes._Child", SimpleNamespace(index=3))
    processes._listen(child, pipe, inbox)
    assert inbox.get_nowait() == (3, None)
    assert pipe.closed
