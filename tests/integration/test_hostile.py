"""Peers that break the rules: each ends in outcomes of its own, in time, and nothing of them is kept."""

import json
import subprocess
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from jostle._engine import Run
from support.real import REFERENCE, reference_server

S = 1_000_000_000
REQUESTS = 4

EXPECTED = {
    "reset-after-accept": {"reset", "closed_early"},  # seen before, while or after the request is written
    "close-after-accept": {"closed_early", "reset"},
    "never-reads": {"response_timeout"},
    "early-answer": {"ok"},
    "drip": {"response_timeout"},
    "endless-status-line": {"too_large"},
    "endless-headers": {"too_large"},
    "endless-continue": {"response_timeout"},
    "endless-body": {"too_large"},
    "endless-chunks": {"too_large"},
    "endless-chunk-size": {"too_large"},
    "never-answers": {"response_timeout"},
    "close-after-request": {"closed_early"},
    "reset-after-request": {"reset"},
    "close-mid-headers": {"closed_early"},
    "reset-mid-headers": {"reset"},
    "close-mid-body": {"closed_early"},
    "reset-mid-body": {"reset"},
    "half-close": {"ok"},
    "length-too-long": {"response_timeout"},
    "length-too-short": {"ok"},
    "length-huge": {"malformed"},
    "length-negative": {"malformed"},
    "length-not-a-number": {"malformed"},
    "length-conflict": {"malformed"},
    "length-and-chunked": {"ok"},
    "chunk-size-not-hex": {"malformed"},
    "chunk-size-negative": {"malformed"},
    "chunk-size-huge": {"malformed"},
    "chunk-too-long": {"malformed"},
    "chunk-cut-off": {"closed_early"},
    "chunks-without-end": {"closed_early"},
    "small-chunks": {"ok"},
    "bad-status-line": {"malformed"},
    "tls-alert": {"malformed"},
    "nul-in-header": {"malformed"},
    "header-without-colon": {"malformed"},
    "markup": {"wrong_status"},
    "wrong-status": {"wrong_status"},
    "wrong-body": {"ok"},
    "junk-after-answer": {"ok"},
}


def workload(name: str, url: str, **more: Any) -> dict[str, Any]:
    host, port = url.removeprefix("http://").split(":")
    return {
        "name": name,
        "role": "measured",
        "target": {"host": host, "port": int(port)},
        "requests": [{"name": "request", "method": "GET", "path": "/hello"}],
        "load": {"closed": {"clients": 2, "requests": REQUESTS}},
        "timeouts": {"connect_ns": 5 * S, "total_ns": 2 * S},
        "body_limit": 1_000_000,
        **more,
    }


def drive(workloads: list[dict[str, Any]], seconds: int | None = None) -> list[dict[str, Any]]:
    """All intervals of a run of these workloads, side by side."""
    spec = {
        "seed": 1,
        "threads": 1,
        "duration_ns": seconds and seconds * S,
        "interval_ns": S // 10,
        "workloads": workloads,
    }
    run = Run(json.dumps(spec))
    found: list[dict[str, Any]] = []
    while not (found and found[-1]["last"]):
        interval = run.next_interval(60.0)
        assert interval is not None
        found.append(dict(interval))
    return found


def series_of(intervals: list[dict[str, Any]], workload: int) -> list[dict[str, Any]]:
    return [s for interval in intervals for s in interval["series"] if s["workload"] == workload]


def test_every_peer_ends_in_outcomes_of_its_own() -> None:
    with ExitStack() as stack:
        urls = {name: stack.enter_context(reference_server("hostile", name)) for name in EXPECTED}
        intervals = drive([workload(name, url) for name, url in urls.items()], seconds=60)
    seen: dict[str, dict[str, int]] = {}
    for number, name in enumerate(EXPECTED):
        outcomes: Counter[str] = Counter()
        for series in series_of(intervals, number):
            outcomes.update(series["outcomes"])
        seen[name] = dict(outcomes)
    wrong = {n: o for n, o in seen.items() if sum(o.values()) != REQUESTS or o.keys() - EXPECTED[n]}
    assert wrong == {}
    assert all(interval["workers_lost"] == 0 for interval in intervals)


def test_all_behaviours_are_expected_here() -> None:
    listed = subprocess.run([REFERENCE, "hostile", "--list"], capture_output=True, text=True, check=True)
    assert {line.split()[0] for line in listed.stdout.splitlines()} == EXPECTED.keys()


@pytest.mark.parametrize("name", ["endless-body", "endless-chunks", "small-chunks"])
def test_memory_does_not_grow_with_what_is_read(name: str) -> None:
    limit, requests = 64_000_000, 400 if name == "small-chunks" else 4
    Path("/proc/self/clear_refs").write_text("5")  # the peak of this process begins anew
    before = status_bytes("VmRSS")
    with reference_server("hostile", name) as url:
        load = {"closed": {"clients": 2, "requests": requests}}
        timeouts = {"connect_ns": 5 * S, "total_ns": 120 * S}
        intervals = drive([workload(name, url, load=load, timeouts=timeouts, body_limit=limit)])
    read = sum(series["bytes_in"] for series in series_of(intervals, 0))
    assert read > 200_000_000
    assert status_bytes("VmHWM") - before < 20_000_000


def status_bytes(figure: str) -> int:
    """A figure of this process's memory, which the kernel gives in kB."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(figure)]
    return int(line.split()[1]) * 1024
