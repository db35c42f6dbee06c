"""The clocks of this machine at one moment.

How much they differ between two moments shows whether the machine was suspended or its clock was set.
"""

import time
from dataclasses import dataclass
from typing import Self

__all__ = ["Clocks"]

NOISE_NS = 10_000_000
"""Differences up to this are ignored: the clocks are read in turn, and the process may wait in between."""

SLEWED = 0.001
"""Twice the rate by which the kernel at most slews the wall clock; a larger difference means it was set."""


@dataclass(frozen=True)
class Clocks:
    """`running_ns` stops while the machine is suspended, `boot_ns` does not; `wall_ns` can be set."""

    wall_ns: int
    running_ns: int
    boot_ns: int

    @classmethod
    def now(cls) -> Self:
        return cls(time.time_ns(), time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME))

    def suspended_ns(self, before: "Clocks") -> int:
        """How long the machine has been suspended since `before`."""
        asleep = (self.boot_ns - before.boot_ns) - (self.running_ns - before.running_ns)
        return asleep if asleep > NOISE_NS else 0

    def set_ns(self, before: "Clocks") -> int:
        """By how much the wall clock was set since `before`; negative if it was set back."""
        passed = self.boot_ns - before.boot_ns
        by = (self.wall_ns - before.wall_ns) - passed
        return by if abs(by) > NOISE_NS + SLEWED * passed else 0
