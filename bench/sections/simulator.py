"""The simulator: its speed and memory, and whether it says what a real server of the same discipline does."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from rows import Effort, Row, Section, spread

EVENTS_BAR, MEMORY_BAR_MB = 4.0, 400
P99_BAR = 0.10

CROWD = """
import json, resource, sys, time
from jostle._engine import Simulation
clients, seconds = int(sys.argv[1]), int(sys.argv[2])
S = 10**9
phases = [{"name": "up", "duration_ns": S, "from": 0, "to": clients},
          {"name": "top", "duration_ns": (seconds - 1) * S, "from": clients, "to": clients}]
run = {"seed": 1, "threads": 1, "interval_ns": S, "duration_ns": seconds * S, "workloads": [{
    "name": "w", "role": "measured", "target": {"host": "simulated", "port": 1},
    "requests": [{"name": "/", "method": "GET", "path": "/"}],
    "load": {"closed": {"clients": clients, "think": {"uniform": {"ns": 900_000_000, "spread": 0.1}}, "phases": phases}},
    "timeouts": {"connect_ns": S, "total_ns": 60 * S}}]}
service = {"time": {"exponential": {"mean_ns": 810_000_000 // clients}}}  # nine tenths of the server are busy
simulation = Simulation(json.dumps(run), json.dumps({"discipline": {"processor-sharing": {"cores": 1}}, "services": [[service]]}))
answered, before = 0, time.process_time()
while (interval := simulation.next_interval()) is not None:
    answered += sum(series["outcomes"].get("ok", 0) for series in interval["series"])
events = 2 * answered / (time.process_time() - before)
print(json.dumps({"events_per_s": events, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
"""  # noqa: E501

PLAN = """
title = "As it is calculated"
contestants = [{contestants}]
rounds = {rounds}
seed = 11

[workload.mix]
request = [{{ get = "/work?us=2000", weight = 3 }}, {{ get = "/work?us=10000", weight = 1 }}]
load = {{ rate = "350/s", arrivals = "poisson", for = "{seconds}s" }}
"""
SERVERS = {
    "reference-workers:workers=2": "workers = 2",
    "reference-processor-sharing:cores=2": 'discipline = "processor-sharing", cores = 2',
}


def run(effort: Effort) -> Section:
    rows, samples = [], []
    for clients, seconds in ((10**6, 6), (10**7, 3)):
        repeats = 1 if clients > 10**6 else effort.rounds
        found = [_crowd(clients, seconds) for _ in range(repeats)]
        samples.append({"clients": clients, "found": found})
        if clients == 10**6:
            speeds = sorted(one["events_per_s"] / 1e6 for one in found)
            reached = speeds[len(speeds) // 2] >= EVENTS_BAR
            rows.append(
                Row("simulator, 10⁶ clients, million events/s", f"≥ {EVENTS_BAR:g}", spread(speeds), reached)
            )
        else:
            mb = found[0]["mb"]
            rows.append(
                Row("simulator, 10⁷ clients, MB", f"≤ {MEMORY_BAR_MB}", f"{mb:.0f}", mb <= MEMORY_BAR_MB)
            )
    for label, simulate in SERVERS.items():
        real, simulated = _both(label, simulate, effort)
        samples.append({"server": label, "real": real, "simulated": simulated})
        p50, p99 = (simulated[what] / real[what] - 1 for what in ("p50", "p99"))
        # A real server takes some 0.2 ms for sockets and timers, which is much of a short median.
        rows.append(Row(f"simulated p50 of {label}, off by", "", f"{p50:+.1%}", None))
        bar = f"± {P99_BAR:.0%}"
        rows.append(Row(f"simulated p99 of {label}, off by", bar, f"{p99:+.1%}", abs(p99) <= P99_BAR))
    return Section(rows, samples=samples)


def _crowd(clients: int, seconds: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-c", CROWD, str(clients), str(seconds)], check=True, stdout=subprocess.PIPE
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _both(label: str, simulate: str, effort: Effort) -> tuple[dict[str, float], dict[str, float]]:
    """Quantiles of response times in seconds: measured, and simulated."""
    seconds = 3 if effort.quick else 20
    sizes = {"contestants": f'"{label}"', "rounds": 1 if effort.quick else 3, "seconds": seconds}
    services = 'services = { "/work?us=2000" = "2ms", "/work?us=10000" = "10ms" }'
    made = PLAN.format(**{**sizes, "contestants": '"made"'})
    made += f"\n[contestant.made]\nsimulate = {{ {simulate}, {services} }}\n"
    return (
        _quantiles("run", PLAN.format(**sizes), effort.folder),
        _quantiles("simulate", made, effort.folder),
    )


def _quantiles(command: str, plan: str, folder: Path) -> dict[str, float]:
    file = folder / f"{re.sub('[^a-z]', '', command)}.toml"
    file.write_text(plan)
    words = [command, str(file), "--into", str(folder / "runs"), "--json", "--no-pages"]
    done = subprocess.run(
        [sys.executable, "-m", "jostle", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return {name: figure["value"] for name, figure in result["summaries"][0]["response"].items()}
