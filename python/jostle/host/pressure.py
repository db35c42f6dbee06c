"""Whether others use this machine: the share of the time in which some task waits for a core."""

import contextlib
import time

from jostle.host.resource_usage import read_some

__all__ = ["BUSY", "cpu_pressure", "pressure_s"]

BUSY = 0.25
"""The share of the time with a task waiting for a core from which threads that never sleep are disturbed."""

SAMPLE_S = 0.02
"""Several scheduler slices of 3 to 4 ms: tasks that share a core wait in each of them."""


def pressure_s(resource: str) -> float | None:
    """Seconds in which some task waited for cpu, memory or io; None if the kernel does not tell.

    Source: Documentation/accounting/psi.rst of the kernel.
    """
    with contextlib.suppress(OSError, ValueError, IndexError):
        return round(int(read_some(f"/proc/pressure/{resource}").split(b"total=")[1].split()[0]) / 1e6, 6)
    return None


def cpu_pressure() -> float | None:
    """The share of the next 20 ms in which some task waits for a core; None if the kernel does not tell."""
    before, start = pressure_s("cpu"), time.monotonic()
    if before is None:
        return None
    time.sleep(SAMPLE_S)
    after, took = pressure_s("cpu"), time.monotonic() - start
    return None if after is None else min(1.0, (after - before) / took)
