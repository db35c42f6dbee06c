"""A window in the middle of a tool's run: what it did and what it cost, seen from outside.

The start of the process, the opening of the connections and the making of the report are not in it.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from servers import Counting
from tools import Tool
from watched import watched

__all__ = ["Sample", "measure"]

START_S = 120
"""k6 needs half a minute to make 10,000 clients."""


@dataclass(frozen=True)
class Sample:
    """One tool at one number of connections. `load_threads_us`: jostle's, without its Python. `whole_us`:
    from the start of the process to the end of the window, over all requests so far."""

    tool: str
    connections: int
    round: int
    requests: int
    seconds: float
    cpu_us: float
    load_threads_us: float | None
    whole_us: float
    peak_mb: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def measure(
    tool: Tool,
    command: list[str],
    server: Counting,
    connections: int,
    seconds: float,
    round_number: int,
    folder: Path,
) -> Sample:
    """Raises `RuntimeError` when the tool ends by itself or does not get going."""
    begin = server.requests()
    with watched(command, folder) as process:
        give_up = time.monotonic() + START_S
        while server.requests() - begin < 2 * connections:
            process.check()
            if time.monotonic() > give_up:
                raise RuntimeError(f"{tool.name} did not get going in {START_S} s: {process.said()}")
            time.sleep(0.1)
        time.sleep(min(1.0, seconds / 3))
        sent, start = server.requests(), time.monotonic()  # counted at the end of the call, queued before it
        cpu, load = process.cpu_s(), process.load_threads_cpu_s()
        time.sleep(seconds)
        process.check()
        now, took = server.requests(), time.monotonic() - start
        sent, whole = now - sent, 1e6 * process.cpu_s() / (now - begin)
        cpu, load = process.cpu_s() - cpu, process.load_threads_cpu_s() - load
        peak = process.peak_bytes() / 1e6
    if not sent:
        raise RuntimeError(f"{tool.name} sent nothing in {seconds:g} s: {process.said()}")
    return Sample(
        tool.name,
        connections,
        round_number,
        sent,
        took,
        1e6 * cpu / sent,
        1e6 * load / sent if load else None,
        whole,
        peak,
    )
