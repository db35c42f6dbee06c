"""User memory for each further idle client: the slope of peak memory from 2,000 to 18,000 clients.

Every client connects, has one answer, and thinks.
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

CONNECT_S = 60


def run(effort: Effort) -> Section:
    samples = []
    for number in range(effort.rounds):
        for clients in (FEW, MANY):
            most = peak(clients, effort)
            samples.append({"round": number, "clients": clients, "peak_bytes": most})
            print(f"  round {number + 1}: {clients:,} clients: {most / 1e6:.1f} MB")
    peaks = {(s["clients"], s["round"]): s["peak_bytes"] for s in samples}
    slopes = [(peaks[MANY, n] - peaks[FEW, n]) / (MANY - FEW) for n in range(effort.rounds)]
    row = Row(
        "user memory per additional idle client, bytes",
        f"≤ {BAR_BYTES:,}",
        spread(slopes, ",.0f"),
        statistics.median(slopes) <= BAR_BYTES,
    )
    return Section([row], samples=samples)


def peak(clients: int, effort: Effort, *more: str) -> int:
    """Bytes of jostle when so many clients have had an answer and think. `more`: options."""
    with nginx() as server:
        idle = ["--think", "10m", "--processes", "1", *more]
        with watched([*JOSTLE.closed(server.url, clients), *idle], effort.folder) as process:
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
