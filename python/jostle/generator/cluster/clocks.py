"""Reads the clocks of another host. Source: Cristian, Probabilistic clock synchronization, 1989."""

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Clock", "measure"]

READINGS = 30


@dataclass(frozen=True)
class Clock:
    """Their clock minus ours in ns, for both clocks; the true differences are within `error_ns` of these."""

    wall_ns: int
    monotonic_ns: int
    error_ns: int


def measure(call: Callable[[], tuple[int, int]], readings: int = READINGS) -> Clock:
    """Measure by `call`, which returns the other's wall and monotonic clocks. The quickest response
    counts."""
    return min((_reading(call) for _ in range(readings)), key=lambda clock: clock.error_ns)


def _reading(call: Callable[[], tuple[int, int]]) -> Clock:
    wall, sent = time.time_ns(), time.monotonic_ns()
    their_wall, theirs = call()
    half = (time.monotonic_ns() - sent) // 2
    return Clock(their_wall - wall - half, theirs - sent - half, half)
