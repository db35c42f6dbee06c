"""Several generator processes: one plan, real processes, real servers."""

import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import polars
import pytest

from jostle.errors import GeneratorsLost
from jostle.generator import LocalExecutor, Running, processes
from jostle.generator.spec.address import Address
from jostle.generator.spec.run import engine_spec
from jostle.plan import parse_plan
from jostle.record import RunRecord
from jostle.record.row_columns import ENGINE_COLUMNS
from support.real import (
    SILENTLY,
    Jostle,
    as_json,
    command,
    environment,
    jostle_running,
    recorded,
    reference_server,
)
from support.waiting import eventually

OPEN = (
    'load = { rates = [{ for = "300ms", from = "100/s", to = "2000/s" }, { rate = "800/s" }], for = "800ms" }'
)


def specification(url: str, load: str, **more: Any) -> dict[str, Any]:
    text = f'title = "t"\ncontestants = ["x"]\n[workload.w]\nrequest = {{ get = "/" }}\n{load}\n'
    workload = parse_plan(text + '[contestant.x]\nurl = "http://h"\n', "test").workload["w"]
    host, port = url.removeprefix("http://").split(":")
    spec = engine_spec("w", workload, Address(host=host, port=int(port)), seed=5)
    return spec | {"rows": True, "interval_ns": 100_000_000} | more


def intervals(running: Running) -> list[Any]:
    found = []
    while not found or not found[-1]["last"]:
        interval = running.next_interval(20.0)
        assert interval is not None, "no interval in 20 s"
        found.append(interval)
    return found


def column(found: list[Any], name: str) -> list[int]:
    import numpy as np

    parts = [np.frombuffer(i["rows"][name], ENGINE_COLUMNS[name]) for i in found if i["rows"]]
    return sorted(np.concatenate(parts).tolist())


def outcomes(found: list[Any]) -> dict[str, int]:
    total: dict[str, int] = {}
    for series in (series for i in found for series in i["series"]):
        for kind, count in series["outcomes"].items():
            total[kind] = total.get(kind, 0) + count
    return total


def test_three_processes_have_the_arrivals_of_one(null_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LEAD_S", 3.0)  # on a busy machine one may come late
    spec = specification(null_server, OPEN)
    alone = intervals(LocalExecutor(1).start(spec))
    running = LocalExecutor(3).start(spec)
    together = intervals(running)
    assert column(together, "intended_ns") == column(alone, "intended_ns")
    assert sum(outcomes(together).values()) == sum(outcomes(alone).values()) > 400
    assert all(len(i["threads"]) == 3 for i in together)
    starts = [generator.started_unix_ns for generator in running.generators]
    assert len(starts) == 3
    assert max(starts) - min(starts) <= 5_000_000
    assert not any(Path(f"/proc/{generator.pid}").exists() for generator in running.generators)


def test_one_that_starts_late_does_not_end_the_others(
    null_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others give their first intervals, and may have ended, before it says that it has begun."""
    say = processes._Child.say
    late: list[threading.Timer] = []

    def hold_the_second(child: processes._Child, what: Any) -> None:
        if child.index == 1 and what != "stop" and set(what) == {"start_unix_ns"}:
            os.kill(child.process.pid, signal.SIGSTOP)
            late.append(threading.Timer(1.5, os.kill, (child.process.pid, signal.SIGCONT)))
            late[0].start()
        say(child, what)

    monkeypatch.setattr(processes._Child, "say", hold_the_second)
    load = 'load = { clients = 3, requests = 600, for = "20s" }'
    found = intervals(LocalExecutor(3).start(specification(null_server, load)))
    late[0].join()
    assert outcomes(found) == {"ok": 600}


def test_totals_of_a_closed_load_are_exact(null_server: str) -> None:
    found = intervals(
        LocalExecutor(3).start(specification(null_server, "load = { clients = 7, requests = 1003 }"))
    )
    assert outcomes(found) == {"ok": 1003}
    assert set(column(found, "client")) == set(range(7))
    assert sum(i["workloads"][0]["connects"] for i in found) == 7


def test_stop_is_clean(null_server: str) -> None:
    running = LocalExecutor(2).start(specification(null_server, 'load = { clients = 4, for = "60s" }'))
    first = running.next_interval(20.0)
    running.stop()
    rest = intervals(running)
    assert first is not None
    assert rest[-1]["end_ns"] < 30e9
    assert not running.lost


def test_a_process_that_dies_is_named_and_the_rest_goes_on(null_server: str) -> None:
    running = LocalExecutor(2).start(specification(null_server, 'load = { rate = "400/s", for = "2s" }'))
    assert running.next_interval(20.0) is not None
    os.kill(running.generators[1].pid, signal.SIGKILL)
    found = intervals(running)
    (lost,) = running.lost
    assert (lost.generator, lost.of) == (2, 2)
    assert lost.why == "generator 2 of 2 was ended by SIGKILL"
    assert found[-1]["end_ns"] == 2_000_000_000
    sent = [[g["generator"] for g in i["generators"]] for i in found]
    assert sent[-1] == [1]


def test_a_process_that_falls_silent_is_given_up(null_server: str) -> None:
    running = LocalExecutor(2).start(specification(null_server, 'load = { rate = "200/s", for = "3s" }'))
    assert running.next_interval(20.0) is not None
    os.kill(running.generators[0].pid, signal.SIGSTOP)
    give_up = time.monotonic() + 30
    found: list[Any] = []
    while not (found and found[-1]["last"]) and time.monotonic() < give_up:
        found += filter(None, [running.next_interval(0.1)])
    (lost,) = running.lost
    assert lost.why == "generator 1 of 2 gave nothing for 6.1 s"
    assert found[-1]["last"]
    assert found[-1]["end_ns"] == 3_000_000_000


def test_when_all_have_died_it_is_said(null_server: str) -> None:
    running = LocalExecutor(2).start(specification(null_server, 'load = { clients = 2, for = "60s" }'))
    for generator in running.generators:
        os.kill(generator.pid, signal.SIGKILL)
    with pytest.raises(GeneratorsLost, match="all generators have died"):
        intervals(running)


def test_generators_end_with_whoever_started_them(null_server: str, tmp_path: Path) -> None:
    options = ["-d", "60s", "-c", "4", "--processes", "2", "--into", tmp_path]
    with jostle_running("hit", null_server, *options, **SILENTLY) as jostle:
        recorded(tmp_path)
        trial = RunRecord.open(next(tmp_path.iterdir())).trials[0]
        pids = [generator["pid"] for generator in trial.description["generators"]]
        assert all(_lives(pid) for pid in pids)
        jostle.kill()
    eventually(lambda: not any(_lives(pid) for pid in pids))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_lost_share_makes_the_run_invalid_and_stands_in_the_journal(tmp_path: Path) -> None:
    options = ["-d", "4s", "-c", "4", "--processes", "2", "--into", tmp_path, "--json"]
    with reference_server("null") as url, jostle_running("hit", url, *options) as jostle:
        recorded(tmp_path, 5_000)
        record = RunRecord.open(next(tmp_path.iterdir()))
        os.kill(record.trials[0].description["generators"][0]["pid"], signal.SIGKILL)
        out, complaints = jostle.communicate(timeout=60)
    result = as_json(subprocess.CompletedProcess([], jostle.returncode, out, complaints))
    assert (jostle.returncode, result["verdict"]) == (3, "invalid")
    assert any(
        "offered load is missing: generator 1 of 2 was ended by SIGKILL" in r for r in result["reasons"]
    )
    events = RunRecord.open(record.folder).journal
    assert [e["generator"] for e in events if e["event"] == "generator lost"] == [1]


def test_too_few_processes_are_refused_before_the_run(jostle_command: Jostle, null_server: str) -> None:
    finished = jostle_command("hit", null_server, "-c", "900000", "--processes", "1", "-d", "1s")
    assert finished.returncode == 2
    assert "generator processes" in finished.stderr


def test_rows_of_all_processes_are_in_the_record(tmp_path: Path, null_server: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"""
title = "Two processes"
contestants = ["it"]
rounds = 1
processes = 2
[workload.w]
request = {{ get = "/" }}
load = {{ clients = 5, requests = 500 }}
rows = true
[contestant.it]
url = "{null_server}"
"""
    )
    finished = subprocess.run(
        [*command("run", plan, "--into", tmp_path / "runs", "--json", "--no-pages")],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=100,
    )
    assert finished.returncode in (0, 3), finished.stderr
    (trial,) = RunRecord.open(next((tmp_path / "runs").iterdir())).trials
    rows = trial.rows()
    assert rows is not None
    assert len(rows) == 500
    assert sorted(set(rows["client"].tolist())) == [0, 1, 2, 3, 4]
    assert rows.frame().schema["end_ns"] == polars.UInt64
