"""The engine alone, without the product around it: a closed client or an open loop, and what it recorded.

    python bench/engine.py PORT RATE SECONDS awake|asleep

RATE 0: one client without a pause. Prints what attention.c prints. Python waits on the server's core.
"""

import base64
import json
import os
import sys

from hdrh.histogram import HdrHistogram
from watched import SERVER_CORE, TOOL_CORE

from jostle._engine import Run

HIGHEST_US = 3_600_000_000


def main() -> None:
    port, rate, seconds = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
    os.sched_setaffinity(0, {SERVER_CORE})
    run = Run(json.dumps(_spec(port, rate, seconds, sys.argv[4] == "awake")))
    response, lag = (HdrHistogram(1, HIGHEST_US, 3) for _ in range(2))
    last = False
    while not last:
        interval = run.next_interval(10.0)
        if interval is None:
            continue
        last = interval["last"]
        if interval["start_ns"] < 1_000_000_000:
            continue
        for series in interval["series"]:
            for name, histogram in (("response", response), ("lag", lag)):
                if name in series["histograms"]:
                    histogram.decode_and_add(base64.b64encode(series["histograms"][name]["v2"]))
    found = {"n": response.get_total_count()}
    for part in (50, 99):
        found[f"p{part}"] = response.get_value_at_percentile(part)
        found[f"late_p{part}"] = lag.get_value_at_percentile(part)
    print(json.dumps(found))


def _spec(port: int, rate: float, seconds: float, attentive: bool) -> dict[str, object]:
    closed = {"closed": {"clients": 1}}
    rates = [{"from": rate, "to": rate}]
    load = {"open": {"arrivals": "constant", "rates": rates, "max_connections": 64}} if rate else closed
    workload = {
        "name": "bench",
        "role": "measured",
        "target": {"host": "127.0.0.1", "port": port},
        "requests": [{"name": "get", "method": "GET", "path": "/"}],
        "load": load,
        "timeouts": {"connect_ns": 5_000_000_000, "total_ns": 5_000_000_000},
    }
    return {
        "seed": 1,
        "threads": 1,
        "cores": [TOOL_CORE],
        "attentive": attentive,
        "interval_ns": 1_000_000_000,
        "duration_ns": int(seconds * 1e9),
        "workloads": [workload],
    }


if __name__ == "__main__":
    main()
