"""1,000 streams of 50 events/s each, read by one core: how true the gaps are that jostle records.

`events.c` sends each event on its turn or, if it comes late to it, not at all, and accounts for its own
sends: so every true gap is a multiple of the stated one, and what a recorded gap is off the next multiple is
the generator's and the kernel's. Two events that the generator read at once have one time, and falsify two
gaps: one is too long, the next is 0. Both count as off by a whole gap.
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
MAX_ERROR_US = 100
SERVER = Path(__file__).parents[1] / "events.c"


def run(effort: Effort) -> Section:
    compiled = effort.folder / "events"
    subprocess.run(["gcc", "-O2", "-o", compiled, SERVER], check=True)
    found = [_streams(compiled, effort, number) for number in range(effort.rounds)]
    off, server, rate, cpu, left_out, merged = (
        [one[what] for one in found]
        for what in ("off_p99", "server_p99", "rate", "cpu", "left_out", "merged")
    )
    rows = [
        Row(
            f"{STREAMS:,} event streams from one core: events/s",
            f"≈ {STREAMS * 1_000_000 // GAP_US:,}",
            spread(rate, ",.0f"),
            abs(statistics.median(rate) * GAP_US / 1e6 / STREAMS - 1) <= 0.02,
        ),
        Row(
            f"{STREAMS:,} event streams: gap recorded, off the true one by at most (p99), µs",
            f"≤ {MAX_ERROR_US}",
            spread(off, ",.0f"),
            statistics.median(off) <= MAX_ERROR_US,
        ),
    ]
    details = (
        f"The true gaps are those between the server's own sends, whole multiples of {GAP_US:,} µs: to "
        f"{spread(server, ',.0f')} µs (p99), which is in jostle's figure. It left out "
        f"{spread(left_out, '.2%')} of its turns, to which it would have come late. Of the recorded gaps "
        f"{spread(merged, '.3%')} were false because jostle read two events at once; they count as off by a "
        f"whole gap. "
        f"CPU of jostle: {spread(cpu, ',.1f')} µs for each event."
    )
    return Section(rows, details, found)


def _streams(compiled: Path, effort: Effort, number: int) -> dict[str, float]:
    """What jostle recorded of the gaps, and the server of its own."""
    from jostle.analysis.stats.sample import slots
    from jostle.record import RunRecord

    port, saved, beside = free_port(), effort.folder / str(number), effort.folder / f"server-{number}"
    beside.mkdir()
    seconds = SETTLE_S + 2 * effort.seconds
    command = [*JOSTLE.closed(f"http://127.0.0.1:{port}/", STREAMS), "-t", "1", "--into", str(saved)]
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
    sends = json.loads(told[0])
    trial = RunRecord.open(next(saved.iterdir())).trials[0]
    gaps, events = trial.histogram("event_gap", start_s=SETTLE_S), trial.histogram("event_gap")
    _, values, counts = slots(gaps)
    off, merged = _off(values.tolist(), counts.tolist())
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    one = {
        "off_p99": off,
        "merged": merged,
        "server_p99": sends["p99_us"],
        "left_out": sends["left_out"] / (sends["left_out"] + sends["gaps"]),
        "rate": gaps.total / (2 * effort.seconds),
        "cpu": 1e6 * cpu_s / events.total,
    }
    print(f"  round {number + 1}: {one}", flush=True)
    return one


def _off(gaps_us: list[int], counts: list[int]) -> tuple[float, float]:
    """How far recorded gaps are off the true ones (p99, µs), and the share that merging falsifies."""
    gaps, many = np.array(gaps_us), np.array(counts)
    multiples = np.rint(gaps / GAP_US)
    at_once = many[multiples == 0].sum()
    off = np.append(np.where(multiples == 0, GAP_US, np.abs(gaps - multiples * GAP_US)), GAP_US)
    many = np.append(many, at_once)  # before each gap of 0 is one that is too long by as much
    order = np.argsort(off)
    p99 = off[order][np.searchsorted(np.cumsum(many[order]), 0.99 * many.sum())]
    return float(p99), float(2 * at_once / many.sum())
