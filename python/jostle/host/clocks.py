"""The clocks of this machine at one moment.

How far they move apart from one moment to the next tells what happened to the time between the two.
"""

import time
from dataclasses import dataclass
from typing import Self

__all__ = ["Clocks"]

NOISE_NS = 10_000_000
"""The clocks are read one after the other, and this process may have to wait between two of them."""

SLEWED = 0.001
"""The kernel lets the wall clock run faster or slower by half of this at most; what is more was set."""


@dataclass(frozen=True)
class Clocks:
    """`running_ns` stands while the machine is suspended, `boot_ns` does not; `wall_ns` can be set."""

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
        """By how much the wall clock was set since `before`; negative: back."""
        passed = self.boot_ns - before.boot_ns
        by = (self.wall_ns - before.wall_ns) - passed
        return by if abs(by) > NOISE_NS + SLEWED * passed else 0
