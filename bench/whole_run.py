"""What a message costs where no server counts for the tools: the slope between a short and a long run.

Start-up, connecting and the making of the report are in both runs alike and drop out. How many messages a run
sent is what the tool says itself.
"""

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from watched import TOOL_CORE

__all__ = ["Counted", "cpu_us"]

PATIENCE_S = 120


@dataclass(frozen=True)
class Counted:
    """A tool that ends by itself. `command`: for a run of so many seconds. `said`: finds in its output how
    many messages it sent."""

    name: str
    command: Callable[[float], list[str]]
    said: str


def cpu_us(tool: Counted, seconds: float) -> float:
    """CPU time of a message in µs. Raises `RuntimeError` when the tool fails."""
    short_s, short = _run(tool, seconds / 4)
    long_s, long = _run(tool, seconds)
    return 1e6 * (long_s - short_s) / (long - short)


def _run(tool: Counted, seconds: float) -> tuple[float, int]:
    """CPU time in seconds, and messages."""
    before = os.times()
    ended = subprocess.run(
        tool.command(seconds),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=seconds + PATIENCE_S,
        preexec_fn=lambda: os.sched_setaffinity(0, {TOOL_CORE}),
    )
    after = os.times()
    found = re.search(tool.said, ended.stdout)
    if found is None:
        raise RuntimeError(f"{tool.name} did not say how much it sent: {ended.stdout[-600:]}")
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu_s, int(found[1])
