"""A window in the middle of a tool's run: what it did and what it cost, seen from outside.

The start of the process, the opening of the connections and the making of the report are not in it.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from servers import Nginx
from tools import Tool
from watched import watched

__all__ = ["Sample", "measure"]

START_S = 120
"""k6 needs half a minute to make 10,000 clients."""


@dataclass(frozen=True)
class Sample:
    """One tool at one number of connections. `load_threads_us`: jostle's, without its Python."""

    tool: str
    connections: int
    round: int
    requests: int
    seconds: float
    cpu_us: float
    load_threads_us: float | None
    peak_mb: float

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


def measure(
    tool: Tool,
    command: list[str],
    server: Nginx,
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
        ours = tool.name == "jostle"
        cpu, load, sent, start = (
            process.cpu_s(),
            process.load_threads_cpu_s() if ours else 0.0,
            server.requests(),
            time.monotonic(),
        )
        time.sleep(seconds)
        process.check()
        cpu = process.cpu_s() - cpu
        load = process.load_threads_cpu_s() - load if ours else 0.0
        sent, took = server.requests() - sent, time.monotonic() - start
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
        1e6 * load / sent if ours else None,
        peak,
    )
