"""CPU time per request of an open loop at a constant rate: jostle beside a C program of nothing but the
system's calls, both asleep while they wait. And what the end of an interval costs: 12 kinds of requests at
50,000/s, recorded in intervals of 100 ms by a generator that busy-polls, so that a stall of its worker is in
the lateness.
"""

import statistics
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

from programs import ENGINE, printed
from rows import Effort, Row, Section, spread
from servers import nginx, reference
from tools import JOSTLE, Tool
from turns import Turn, in_turns
from window import Sample

BENCH = Path(__file__).parents[1]
RATES, CONNECTIONS = [20_000, 40_000], [64, 1_000]
BAR = 1.25
MIX_RATE, MIX = 50_000, 12
MIX_CONNECTIONS = 1_000
"""Encoding an interval holds up the server, on whose core it is done, for about 3 ms: 150 requests come."""

ENOUGH = 0.9
"""Of the requests so many must have found a free connection."""

Found = dict[tuple[str, int, int], list[Sample]]
"""Samples by tool, rate and connections."""

STALL_US = 500
"""A stall of this length at the end of each interval of 100 ms makes 0.5 % of the requests late, the first of
them by all of it: the p99.9 of the lateness shows four fifths of it."""


def run(effort: Effort) -> Section:
    compiled = effort.folder / "open_loop"
    subprocess.run(["gcc", "-O2", "-o", compiled, BENCH / "open_loop.c"], check=True)
    floor = Tool("C", closed=lambda _, __: [], open=lambda url, rate, c: _floor(compiled, url, rate, c))
    with nginx() as server:
        turns = {
            (tool.name, rate, size): _turn(tool, server.url, rate, size)
            for tool in (JOSTLE, floor)
            for rate in RATES
            for size in CONNECTIONS
        }
        found = in_turns(turns, server, effort)
    mixes = [_mix(effort) for _ in range(effort.rounds)]
    rows = [_row(found, rate, size) for rate in RATES for size in CONNECTIONS]
    rows.append(_stall(mixes))
    samples = [{**asdict(s), "rate": rate} for (_, rate, _), each in found.items() for s in each]
    return Section(rows, _details(found), [*samples, *mixes])


def _floor(compiled: Path, url: str, rate: int, connections: int) -> list[str]:
    port = url.rstrip("/").rpartition(":")[2]
    return [str(compiled), port, str(rate), str(connections)]


def _turn(tool: Tool, url: str, rate: int, size: int) -> Turn:
    assert tool.open is not None
    return Turn(tool, tool.open(url, rate, size), size)


def _mix(effort: Effort) -> dict[str, Any]:
    with reference("null") as address:
        port = address.rpartition(":")[2]
        words = [port, str(MIX_RATE), str(effort.seconds + 1), "awake"]
        words += [str(MIX), "0.1", str(MIX_CONNECTIONS)]
        found = printed([*ENGINE, *words])
    print(f"  {MIX} requests: {found}", flush=True)
    return found


def _stall(mixes: list[dict[str, Any]]) -> Row:
    """Where the server did not keep up, requests waited for it, and the generator's lateness is not known."""
    what = f"{MIX} requests at {MIX_RATE:,}/s, intervals of 100 ms: lateness p99.9, µs"
    if any(found["own_n"] < ENOUGH * found["n"] for found in mixes):
        return Row(what, f"≤ {STALL_US}", "the server did not keep up", None)
    late = statistics.median(found["own_late_p99.9"] for found in mixes)
    return Row(what, f"≤ {STALL_US}", f"{late:,.0f}", late <= STALL_US)


def _row(found: Found, rate: int, size: int) -> Row:
    pairs = zip(found["jostle", rate, size], found["C", rate, size], strict=True)
    ratios = [mine.cpu_us / floor.cpu_us for mine, floor in pairs]
    what = f"open loop, {rate:,}/s constant, {size:,} connections: CPU per request ÷ C"
    return Row(what, f"≤ {BAR:.2f}", spread(ratios), statistics.median(ratios) <= BAR)


def _details(found: Found) -> str:
    lines = [
        "| requests/s | connections | tool | CPU µs/request | sent/s |",
        "|---|---|---|---|---|",
    ]
    for rate in RATES:
        for size in CONNECTIONS:
            for tool in ("jostle", "C"):
                samples = found[tool, rate, size]
                cpu, sent = spread([s.cpu_us for s in samples]), spread([s.rate for s in samples], ",.0f")
                lines.append(f"| {rate:,} | {size:,} | {tool} | {cpu} | {sent} |")
    return "\n".join(lines)
