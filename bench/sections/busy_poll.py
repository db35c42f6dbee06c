"""What of a fast server's response time is the generator's own waking up: jostle's engine busy-polling
and asleep, in turn with a C program that never sleeps, on the null server and on nginx. Beside them what wrk,
oha and k6 report of the same servers.

The engine awake and the C program are measured in pairs, one right after the other: a machine's speed, and
how often it is interrupted, changes within seconds. Ratios are of pairs.

Lateness is from the intended start to the send; jostle records whole microseconds, at least 1.
"""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from programs import ENGINE, printed
from reports import CLOSED, OPEN, Attack, report
from rows import Effort, Row, Section, middle
from servers import nginx, reference
from turns import side_by_side
from watched import TOOL_CORE

BENCH = Path(__file__).parents[1]
RATES = [0, 300, 2000, 10_000]
"""Requests per second; 0: one client without a pause."""

BESIDE = [0, 2000]
"""At these the other tools have their turn too."""

PEERS = ["wrk", "oha", "k6"]
CONNECTIONS = 64
"""Of another tool, at a rate."""

SERVERS = ["null", "nginx"]
NAMES = {"C": "C, never asleep", "awake": "jostle, awake", "asleep": "jostle, asleep"}
PAIRS = 4
"""In each round, with windows of half its length. With windows of a quarter the median of twelve ratios was
between 0.93 and 1.12 where longer ones gave 1.04."""

P50_BAR, P99_BAR = 1.10, 1.25
LATE_P50_US, LATE_P99_US = 2, 50


def run(effort: Effort) -> Section:
    compiled = effort.folder / "busy_poll"
    subprocess.run(["gcc", "-O2", "-o", compiled, BENCH / "busy_poll.c"], check=True)
    samples: list[dict[str, Any]] = []
    for number in range(effort.rounds):
        for server in SERVERS:
            with _server(server) as port:
                for rate in RATES:
                    for tool, seconds in _turns(rate, effort.seconds):
                        found = {"round": number, "server": server, "rate": rate, "tool": tool}
                        found |= _measured(tool, compiled, port, rate, seconds)
                        samples.append(found)
                        print(f"  {found}", flush=True)
    rows = [row for server in SERVERS for rate in RATES for row in _rows(samples, server, rate)]
    return Section(rows, _details(samples), samples)


def _turns(rate: int, seconds: float) -> Iterator[tuple[str, float]]:
    """Of one round: each tool, and for how long it is measured."""
    pair = [(tool, seconds / 2) for tool in ("C", "awake")]
    return side_by_side([pair] * PAIRS + [[(tool, seconds)] for tool in ("asleep", *_beside(rate))])


def _measured(tool: str, compiled: Path, port: int, rate: int, seconds: float) -> dict[str, Any]:
    numbers = [str(port), str(rate), str(seconds + 1)]
    ours: dict[str, list[str]] = {
        "C": ["taskset", "-c", str(TOOL_CORE), str(compiled), *numbers],
        "awake": [*ENGINE, *numbers, "awake"],
        "asleep": [*ENGINE, *numbers, "asleep"],
    }
    if tool in ours:
        return printed(ours[tool])
    clients = CONNECTIONS if rate else 1
    return report(tool, Attack(f"http://127.0.0.1:{port}/", clients, seconds, rate))


@contextlib.contextmanager
def _server(name: str) -> Iterator[int]:
    if name == "nginx":
        with nginx() as server:
            yield server.port
    else:
        with reference(name) as address:
            yield int(address.rpartition(":")[2])


def _rows(samples: list[dict[str, Any]], server: str, rate: int) -> list[Row]:
    what = f"{server}, {_load(rate)}, awake"
    rows = []
    for part, bar in (("p50", P50_BAR), ("p99", P99_BAR)):
        pairs = zip(*(_all(samples, server, rate, tool, part) for tool in ("awake", "C")), strict=True)
        ratios = [ours / of_c for ours, of_c in pairs]
        what_of = f"{what}: response {part} ÷ C"
        rows.append(Row(what_of, f"≤ {bar:.2f}", middle(ratios), median(ratios) <= bar))
    if rate:
        for part, most in (("late_p50", LATE_P50_US), ("late_p99", LATE_P99_US)):
            late = _of(samples, server, rate, "awake", part)
            rows.append(Row(f"{what}: lateness {part[5:]}, µs", f"≤ {most}", f"{late:,.0f}", late <= most))
    return rows


def _all(samples: list[dict[str, Any]], server: str, rate: int, tool: str, part: str) -> list[float]:
    keys = (server, rate, tool)
    return [s[part] for s in samples if (s["server"], s["rate"], s["tool"]) == keys]


def _of(samples: list[dict[str, Any]], server: str, rate: int, tool: str, part: str) -> float:
    """The median of its windows."""
    return median(_all(samples, server, rate, tool, part))


def _beside(rate: int) -> list[str]:
    """The other tools that have their turn at this rate; wrk knows none."""
    return [tool for tool in PEERS if tool in (OPEN if rate else CLOSED)] if rate in BESIDE else []


def _load(rate: int) -> str:
    return f"{rate:,}/s" if rate else "1 client"


def _details(samples: list[dict[str, Any]]) -> str:
    lines = [
        f"Microseconds, medians of the windows; {PAIRS} pairs of C and jostle awake in each round:",
        "",
        "| server | load | tool | p50 | p99 | late p50 | late p99 |",
        "|---|---|---|---|---|---|---|",
    ]
    parts = ("p50", "p99", "late_p50", "late_p99")
    for server in SERVERS:
        for rate in RATES:
            for tool in ("C", "awake", "asleep"):
                figures = " | ".join(f"{_of(samples, server, rate, tool, part):,.1f}" for part in parts)
                lines.append(f"| {server} | {_load(rate)} | {NAMES[tool]} | {figures} |")
            for tool in _beside(rate):
                figures = " | ".join(f"{_of(samples, server, rate, tool, part):,.1f}" for part in parts[:2])
                lines.append(f"| {server} | {_load(rate)} | {tool} | {figures} | | |")
    lines += [
        "",
        "The lateness of the other tools is in no report of theirs. oha counts from the intended start.",
    ]
    return "\n".join(lines)
