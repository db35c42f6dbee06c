"""The smaller published experiments on real servers, much shortened."""

import json
from pathlib import Path
from typing import Any

from support.real import Jostle, as_json

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
    repeated = "hello,buffers,strings,hello-kept,buffers-kept"
    few = ["--set", "requests=400", "--set", "runs=2", "--contestants", "node,go", "--workloads", repeated]
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
