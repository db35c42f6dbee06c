"""The rate that generators of this machine certainly do not exceed."""

from dataclasses import dataclass

from jostle.formatting import plural
from jostle.host.facts import machine_and_version
from jostle.host.floor import stored_floor
from jostle.units import format_rate

__all__ = ["HighestRate"]

MAX_PER_THREAD = 1_000_000
"""No thread sends more requests per second on any machine."""


@dataclass(frozen=True)
class HighestRate:
    """That of so many generator threads. `calibrated`: as this machine's own calibration says."""

    threads: int
    per_s: float
    calibrated: bool

    @classmethod
    def of(cls, threads: int, *, here: bool = True) -> "HighestRate":
        """`here`: all of them run on this machine, whose calibration is known if there was one."""
        floor = stored_floor(machine_and_version()) if here else None
        costs = [load["cpu_s_per_request"] for load in floor["loads"]] if floor is not None else []
        least_s = min(filter(None, costs), default=0.0)
        return cls(threads, threads / least_s if least_s else threads * MAX_PER_THREAD, bool(least_s))

    def refusal(self, per_s: float) -> tuple[str, str] | None:
        """What is said of a rate beyond it, and a hint; None for one that may be possible."""
        if per_s <= self.per_s:
            return None
        return (
            f"{format_rate(per_s)} is beyond this machine: {plural(self.threads, 'generator thread')} can "
            f"send {format_rate(self.per_s)} at most",
            "that is what its calibration says: jostle doctor"
            if self.calibrated
            else "how much it really is: jostle doctor --calibrate",
        )
