"""User memory for each further idle client: the slope of peak memory from 2,000 to 18,000 clients.

Every client opens a connection of its own, has one response, and thinks: over HTTP/1.1, and over HTTP/2.
"""

import statistics
import time
from pathlib import Path

from rows import Effort, Row, Section, spread
from servers import nginx
from tools import JOSTLE
from watched import watched

FEW, MANY = 2_000, 18_000
BAR_BYTES = 1_300
"""The Haskell article needs 1,650 per thread."""

HTTP2_BAR_BYTES = 6 * 1024
CONNECT_S = 60


def run(effort: Effort) -> Section:
    parts = [
        _slope("client", BAR_BYTES, effort),
        _slope("HTTP/2 connection", HTTP2_BAR_BYTES, effort, http2=True),
    ]
    return Section([row for row, _ in parts], samples=[sample for _, samples in parts for sample in samples])


def _slope(
    what: str, bar: int, effort: Effort, *, http2: bool = False
) -> tuple[Row, list[dict[str, object]]]:
    samples: list[dict[str, object]] = []
    slopes = []
    for number in range(effort.rounds):
        few, many = (peak(clients, effort, http2=http2) for clients in (FEW, MANY))
        for clients, most in ((FEW, few), (MANY, many)):
            samples.append({"idle": what, "round": number, "clients": clients, "peak_bytes": most})
            print(f"  round {number + 1}: {clients:,} × {what}: {most / 1e6:.1f} MB")
        slopes.append((many - few) / (MANY - FEW))
    row = Row(
        f"user memory per additional idle {what}, bytes",
        f"≤ {bar:,}",
        spread(slopes, ",.0f"),
        statistics.median(slopes) <= bar,
    )
    return row, samples


def peak(clients: int, effort: Effort, *options: str, http2: bool = False) -> int:
    """Bytes of jostle when so many clients have had a response and think."""
    with nginx() as server:
        url, protocol = (server.http2_url, ["--http2"]) if http2 else (server.url, [])
        idle = ["--think", "10m", "--processes", "1", *protocol, *options]
        with watched([*JOSTLE.closed(url, clients), *idle], effort.folder) as process:
            give_up = time.monotonic() + CONNECT_S
            while server.connections() < clients or server.requests() < clients:
                process.check()
                if time.monotonic() > give_up:
                    raise RuntimeError(
                        f"{server.connections():,} of {clients:,} clients are connected: {process.said()}"
                    )
                time.sleep(0.2)
            time.sleep(1.0)  # what is written down each second is written down
            return process.peak_bytes()


def more_per_client(effort: Effort, journey: Path) -> list[float]:
    """Of each round: bytes that a further client needs more on this journey than with plain requests."""
    more = []
    for number in range(effort.rounds):
        plain, on_it = (
            (peak(MANY, effort, *options) - peak(FEW, effort, *options)) / (MANY - FEW)
            for options in ([], ["--journey", str(journey)])
        )
        more.append(on_it - plain)
        print(f"  round {number + 1}: {plain:,.0f} and {on_it:,.0f} bytes a client")
    return more
