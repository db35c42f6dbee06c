"""1,000 streams of 50 events/s each, read by one core: how true the gaps are that jostle records.

`events.c` sends each event on its turn and accounts for the gaps between its own sends; what is left is what
the generator and the kernel between them are off.
"""

import json
import os
import re
import statistics
import subprocess
from pathlib import Path

import numpy as np
from rows import Effort, Row, Section, spread
from servers import free_port, wait_for
from tools import JOSTLE
from watched import SERVER_CORE, watched

STREAMS, GAP_US = 1_000, 20_000
SETTLE_S = 3
MOST_OFF_US = 100
SERVER = Path(__file__).parents[1] / "events.c"


def run(effort: Effort) -> Section:
    compiled = effort.folder / "events"
    subprocess.run(["gcc", "-O2", "-o", compiled, SERVER], check=True)
    found = [_streams(compiled, effort, number) for number in range(effort.rounds)]
    off, server, rate, cpu = (
        [one[what] for one in found] for what in ("off_p99", "server_p99", "rate", "cpu")
    )
    rows = [
        Row(
            f"{STREAMS:,} event streams from one core: events/s",
            f"≈ {STREAMS * 1_000_000 // GAP_US:,}",
            spread(rate, ",.0f"),
            abs(statistics.median(rate) * GAP_US / 1e6 / STREAMS - 1) <= 0.02,
        ),
        Row(
            f"{STREAMS:,} event streams: gap recorded, off by at most (p99), µs",
            f"≤ {MOST_OFF_US}",
            spread(off, ",.0f"),
            statistics.median(off) <= MOST_OFF_US,
        ),
    ]
    details = (
        f"The server's own sends were off by {spread(server, ',.0f')} µs (p99), which is in jostle's "
        f"figure. "
        f"CPU of jostle: {spread(cpu, ',.1f')} µs for each event."
    )
    return Section(rows, details, found)


def _streams(compiled: Path, effort: Effort, number: int) -> dict[str, float]:
    """What jostle recorded of the gaps, and the server of its own."""
    from jostle.record import RunRecord

    port, saved, beside = free_port(), effort.folder / str(number), effort.folder / f"server-{number}"
    beside.mkdir()
    seconds = SETTLE_S + 2 * effort.seconds
    command = [*JOSTLE.closed(f"http://127.0.0.1:{port}/", STREAMS), "-t", "1", "--save", str(saved)]
    command += ["--stream", "sse", "-d", f"{seconds:g}s"]
    with watched([compiled, str(port), str(STREAMS), str(GAP_US)], beside, SERVER_CORE) as server:
        wait_for(port, server.process)
        before = os.times()
        with watched(command, effort.folder) as process:
            process.process.wait(seconds + 60)
        after = os.times()
        server.end()
        told = re.search(r"\{.*\}", server.said())
    assert told, server.said()
    trial = RunRecord.open(next(saved.iterdir())).trials[0]
    gaps, events = trial.histogram("event_gap", start_s=SETTLE_S), trial.histogram("event_gap")
    values = [
        (value.value_iterated_to, value.count_added_in_this_iter_step)
        for value in gaps.get_recorded_iterator()
    ]
    off, counts = np.abs(np.array([value for value, _ in values]) - GAP_US), np.array([n for _, n in values])
    order = np.argsort(off)
    p99 = off[order][np.searchsorted(np.cumsum(counts[order]), 0.99 * counts.sum())]
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    one = {
        "off_p99": float(p99),
        "server_p99": json.loads(told[0])["p99_us"],
        "rate": gaps.get_total_count() / (2 * effort.seconds),
        "cpu": 1e6 * cpu_s / events.get_total_count(),
    }
    print(f"  round {number + 1}: {one}", flush=True)
    return one
