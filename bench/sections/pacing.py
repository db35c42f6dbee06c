"""Open loop at 20,000 requests/s: how late requests are sent.

The bar is for Poisson arrivals, by jostle's own record: intended start to actual send. Beside it jostle, oha
and k6 send at a constant rate, and the packets are stamped by the kernel as they leave: what a tool says of
itself does not count there. The n-th packet is due n/20,000 s after the start, and the start is chosen so
that nothing is early; a tool that falls behind is ever later.
"""

import random
import time
from pathlib import Path
from typing import Any

import numpy as np
from packets import capture, departures
from rows import Effort, Row, Section
from servers import Nginx, nginx
from tools import JOSTLE, K6, OHA, Tool
from watched import watched

RATE = 20_000
CONNECTIONS = 500
BARS_US = {0.50: 50, 0.99: 500}
PEERS = [JOSTLE, OHA, K6]
SETTLE_S = 3


def run(effort: Effort) -> Section:
    with nginx() as server:
        lags = _poisson(server, effort)
        print(f"  jostle, Poisson: lag {lags}")
        beside = [_constant(tool, server, effort) for tool in random.sample(PEERS, len(PEERS))]
    rows = [
        Row(
            f"open loop, {RATE:,}/s Poisson, one thread: lag p{p * 100:g}, µs",
            f"≤ {bar}",
            f"{lags[p]:,}",
            lags[p] <= bar,
        )
        for p, bar in BARS_US.items()
    ]
    return Section(
        rows, _details(beside), [{"poisson_lag_us": {f"p{p * 100:g}": v for p, v in lags.items()}}, *beside]
    )


def _poisson(server: Nginx, effort: Effort) -> dict[float, int]:
    """Lag in µs by quantile, over all requests but the first second's, in which connections are opened."""
    from jostle.analysis.stats.sample import from_histograms, quantile_of
    from jostle.record import RunRecord

    saved = effort.folder / "poisson"
    seconds = 2 * effort.seconds + 1
    command = [*JOSTLE.closed(server.url, CONNECTIONS), "--rate", f"{RATE}/s", "-t", "1"]
    command += ["-d", f"{seconds:g}s", "--into", str(saved)]
    with watched(command, effort.folder) as process:
        process.process.wait(seconds + 60)
    trial = RunRecord.open(next(saved.iterdir())).trials[0]
    lag = from_histograms([trial.histogram("lag", start_s=1.0)])
    return {p: round(1e6 * (quantile_of(lag, p) or 0.0)) for p in BARS_US}


def _constant(tool: Tool, server: Nginx, effort: Effort) -> dict[str, Any]:
    """A tool at the constant rate for a while, as the wire saw it."""
    assert tool.open is not None
    file = Path(effort.folder, "packets.pcap")
    begin = server.requests()
    with watched(tool.open(server.url, RATE, CONNECTIONS), effort.folder) as process:
        give_up = time.monotonic() + 60
        while server.requests() - begin < RATE / 10:
            process.check()
            if time.monotonic() > give_up:
                raise RuntimeError(f"{tool.name} did not get going: {process.said()}")
            time.sleep(0.05)
        time.sleep(SETTLE_S)
        cpu, start = process.cpu_s(), time.monotonic()
        with capture(server.port, file):
            time.sleep(effort.seconds)
        cpu = (process.cpu_s() - cpu) / (time.monotonic() - start)
    sent = departures(file)
    late = sent - sent[0] - np.arange(len(sent)) / RATE
    late -= late.min()
    found = {
        "tool": tool.name,
        "rate": float((len(sent) - 1) / (sent[-1] - sent[0])),
        "cores": cpu,
        "late_us": {f"p{p * 100:g}": float(np.quantile(late, p)) * 1e6 for p in BARS_US},
    }
    print(f"  {found}")
    return found


def _details(beside: list[dict[str, Any]]) -> str:
    lines = [
        f"At a constant {RATE:,}/s, as the packets left:",
        "",
        "| tool | requests/s | late p50 µs | late p99 µs | CPU, cores |",
        "|---|---|---|---|---|",
    ]
    for found in sorted(beside, key=lambda found: [tool.name for tool in PEERS].index(found["tool"])):
        late = found["late_us"]
        lines.append(
            f"| {found['tool']} | {found['rate']:,.0f} | {late['p50']:,.0f} | {late['p99']:,.0f} "
            f"| {found['cores']:.2f} |"
        )
    return "\n".join(lines)
