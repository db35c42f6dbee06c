"""Whether others work on this machine: for how much of the time somebody waits for a core."""

import contextlib
import time

from jostle.host.resource_usage import read_some

__all__ = ["BUSY", "cpu_pressure", "pressure_s"]

BUSY = 0.25
"""Share of the time in which somebody waits for a core, from which on others disturb whoever never sleeps."""

SAMPLE_S = 0.02
"""Some slices of the scheduler, which are 3 to 4 ms: whoever shares a core waits in each of them."""


def pressure_s(what: str) -> float | None:
    """Seconds in which some task waited for cpu, memory or io; None where the kernel does not tell.

    Source: Documentation/accounting/psi.rst of the kernel.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        return round(int(read_some(f"/proc/pressure/{what}").split(b"total=")[1].split()[0]) / 1e6, 6)
    return None


def cpu_pressure() -> float | None:
    """The share of a short while, from now on, in which some task waited for a core."""
    before, start = pressure_s("cpu"), time.monotonic()
    if before is None:
        return None
    time.sleep(SAMPLE_S)
    after, took = pressure_s("cpu"), time.monotonic() - start
    return None if after is None else min(1.0, (after - before) / took)
