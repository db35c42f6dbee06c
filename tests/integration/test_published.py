"""The smaller published experiments on real servers, much shortened, alone and all on one page."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from support.real import Jostle, as_json, command, environment

QUICK = ["--quick", "--rounds", "2", "--json", "--no-pages"]


def raced(jostle_command: Jostle, *arguments: str) -> dict[str, Any]:
    return as_json(jostle_command("race", *arguments, *QUICK, timeout=300))


def trial_files(folder: Path, name: str) -> list[Path]:
    return sorted((folder / "runs").glob(f"*/trials/*/{name}"))


def test_pair_asks_a_second_server_and_watches_it(jostle_command: Jostle, tmp_path: Path) -> None:
    small = ["--set", "small=20", "--set", "large=21", "--set", "second=go"]
    result = raced(jostle_command, "pair", "--contestants", "node,go", *small)
    assert {(r["contestant"], r["workload"]) for r in result["ratios"]} == {
        (name, workload) for name in ("node", "go") for workload in ("local-async", "remote-async")
    }
    assert all(r["ratio"]["value"] > 0 for r in result["ratios"])
    assert {trial["status"] for trial in result["trials"]} == {"ended"}
    peers = trial_files(tmp_path, "peer.ndjson")
    assert len(peers) == 8
    assert all("remote" in path.parent.name for path in peers)
    described = json.loads((peers[0].parent / "trial.json").read_text())
    assert described["peer"]["label"] == "go"
    assert described["peer"]["url"] != described["server"]["url"]
    assert described["placement"]["peer_cores"]
    published = {
        r["contestant"]: r["published_against"] for r in result["ratios"] if r["workload"] == "local-async"
    }
    assert published == {"node": 6.439, "go": None}


def test_a_peer_that_cannot_be_had_fails_its_trials_by_name(jostle_command: Jostle, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        """
title = "Asks nobody"
contestants = ["reference-run-to-completion"]
rounds = 1
[workload.alone]
request = { get = "/hello" }
load = { clients = 1, requests = 3 }
[workload.asking]
request = { get = "/hello?peer={peer}" }
load = { clients = 1, requests = 3 }
peer = "absent"
[contestant.absent]
command = "no-such-command --port {port}"
"""
    )
    finished = jostle_command("run", "plan.toml", "--json", "--no-pages")
    assert finished.returncode == 3
    trials = {trial["workload"]: trial for trial in as_json(finished)["trials"]}
    assert trials["alone"]["status"] == "ended"
    assert trials["asking"]["status"] == "failed"
    assert trials["asking"]["reason"].startswith("absent")


@pytest.mark.alone
def test_threads_have_a_price(jostle_command: Jostle) -> None:
    result = raced(
        jostle_command,
        "threads",
        "--contestants",
        "go,rust-axum",
        "--set",
        "count=20000",
        *("--workloads", "threads,os-threads"),
    )
    rows = {(t["contestant"], t["workload"]): t for t in result["threads"]}
    assert rows.keys() == {("go", "threads"), ("rust-axum", "threads"), ("rust-axum", "os-threads")}
    assert 1000 < rows["go", "threads"]["memory_bytes"]["value"] < 20_000
    assert rows["rust-axum", "os-threads"]["count"] == 2000
    cheap, dear = (rows["rust-axum", w]["memory_bytes"]["value"] for w in ("threads", "os-threads"))
    assert 0 < cheap < dear


def test_the_second_run_on_the_same_server_is_measured(jostle_command: Jostle, tmp_path: Path) -> None:
    few = ["--set", "requests=400", "--set", "runs=2", "--contestants", "node,go"]
    result = raced(jostle_command, "allocation", *few)
    assert {(e["contestant"], e["workload"], e["run"]) for e in result["earlier"]} == {
        *(("node", workload, 1) for workload in ("hello", "buffers", "strings", "hello-kept")),
        *(("go", workload, 1) for workload in ("hello-kept", "buffers-kept")),
    }
    assert all(cell["outcomes"] == {"ok": 800} for cell in result["summaries"])
    both = zip(trial_files(tmp_path, "trial.json"), trial_files(tmp_path, "run-1/trial.json"), strict=True)
    for measured, first in both:
        described = [json.loads(path.read_text()) for path in (first, measured)]
        assert described[0]["server"]["pid"] == described[1]["server"]["pid"]
        assert described[0]["started_unix_ns"] < described[1]["started_unix_ns"]


@pytest.mark.alone
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
    finished = jostle_command(*arguments, timeout=300)
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
