"""The engine alone, without the product around it: a closed client or an open loop, and what it recorded.

    python bench/engine.py PORT RATE SECONDS awake|asleep [REQUESTS INTERVAL_S CONNECTIONS]
    python bench/engine.py SPECIFICATION.json FROM_S

RATE 0: one client without a pause. REQUESTS: so many kinds of them, at random (1); recorded in intervals of
INTERVAL_S (1); over at most so many CONNECTIONS (64). Prints what busy_poll.c prints, and the p99.9 of the
engine's own lateness, without what a request waited for a connection; of a specification, the p99.9 of the
lateness from FROM_S on. Python waits on the server's core, and reads nothing before the end.
"""

import base64
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdrh.histogram import HdrHistogram
from watched import SERVER_CORE, TOOL_CORE

from jostle._engine import Run, merge_v2

if TYPE_CHECKING:
    from jostle._engine import Interval

HIGHEST_US = 3_600_000_000


def main() -> None:
    os.sched_setaffinity(0, {SERVER_CORE})
    words = sys.argv[1:]
    found = _of_specification(*words) if len(words) == 2 else _of_requests(words)
    print(json.dumps(found))


def _of_specification(file: str, from_s: str) -> dict[str, int]:
    lag = _merged(_all(json.loads(Path(file).read_text())), "lag", int(float(from_s) * 1e9))
    return {"n": lag.get_total_count(), "late_p99.9": lag.get_value_at_percentile(99.9)}


def _of_requests(words: list[str]) -> dict[str, int]:
    port, rate, seconds, awake = words[:4]
    kinds, interval_s, lanes = (
        (int(words[4]), float(words[5]), int(words[6])) if len(words) > 4 else (1, 1.0, 64)
    )
    spec = _spec(int(port), float(rate), float(seconds), kinds, interval_s, lanes)
    intervals = _all({**spec, "busy_poll": awake == "awake"})
    response, lag, pacing = (_merged(intervals, name) for name in ("response", "lag", "pacing"))
    found = {"n": response.get_total_count()}
    for part in (50, 99):
        found[f"p{part}"] = response.get_value_at_percentile(part)
        found[f"late_p{part}"] = lag.get_value_at_percentile(part)
    own = {"own_n": pacing.get_total_count(), "own_late_p99.9": pacing.get_value_at_percentile(99.9)}
    return found | own


def _all(spec: dict[str, Any]) -> list["Interval"]:
    run = Run(json.dumps(spec))
    intervals = [_next(run)]
    while not intervals[-1]["last"]:
        intervals.append(_next(run))
    return intervals


def _next(run: Run) -> "Interval":
    while (interval := run.next_interval(10.0)) is None:
        pass
    return interval


def _merged(intervals: list["Interval"], name: str, from_ns: int = 1_000_000_000) -> HdrHistogram:
    counted = [i for i in intervals if i["start_ns"] >= from_ns]
    parts = [s["histograms"][name]["v2"] for i in counted for s in i["series"] if name in s["histograms"]]
    merged, whole = HdrHistogram(1, HIGHEST_US, 3), merge_v2(parts)
    if whole is not None:
        merged.decode_and_add(base64.b64encode(whole["v2"]))
    return merged


def _spec(
    port: int, rate: float, seconds: float, kinds: int, interval_s: float, lanes: int
) -> dict[str, Any]:
    closed = {"closed": {"clients": 1}}
    rates = [{"from": rate, "to": rate}]
    load = {"open": {"arrivals": "constant", "rates": rates, "max_connections": lanes}} if rate else closed
    workload = {
        "name": "bench",
        "role": "measured",
        "target": {"host": "127.0.0.1", "port": port},
        "requests": [{"name": f"get {n}", "method": "GET", "path": "/"} for n in range(kinds)],
        "load": load,
        "timeouts": {"connect_ns": 5_000_000_000, "total_ns": 5_000_000_000},
    }
    return {
        "seed": 1,
        "threads": 1,
        "cores": [TOOL_CORE],
        "interval_ns": int(interval_s * 1e9),
        "duration_ns": int(seconds * 1e9),
        "workloads": [workload],
    }


if __name__ == "__main__":
    main()
