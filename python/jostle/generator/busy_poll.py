"""Whether the generator's threads busy-poll instead of sleeping, decided for one trial.

The wake-up delay of a thread that sleeps is part of every response time it measures; one that busy-polls
needs a core of its own. Under `auto` threads busy-poll only if nothing else may run on their cores, and if
they do not slow down what runs on the other hyperthreads of these cores, as `jostle doctor --calibrate`
measured.
"""

import math
import os
from collections.abc import Collection, Mapping
from typing import Any

from jostle.host.cores import siblings
from jostle.host.floor import Floor

__all__ = ["SLOWDOWN", "leaves_others_alone", "with_busy_poll"]

SLOWDOWN = 0.02
"""The share by which a CPU-bound request may take longer because the generator busy-polls."""


def leaves_others_alone(
    cores: Collection[int], others: Collection[int], floor: Floor | None, quota: float | None = None
) -> bool:
    """Whether threads that busy-poll on `cores` do not slow down `others`.

    `quota`: the CPU time, in cores, that the container has for all of them; threads that busy-poll use it
    up. If they are hyperthreads of the same physical cores, only a measurement can tell: without one, False.
    """
    if quota is not None and quota < len({*cores, *others}):
        return False
    if set(cores) & set(others):
        return False
    if not set().union(*map(siblings, cores)) & set(others):
        return True
    slowdown = floor.get("slowdown") if floor else None
    return slowdown is not None and slowdown <= SLOWDOWN


def with_busy_poll(spec: Mapping[str, Any], processes: int = 1) -> dict[str, Any]:
    """The specification with `busy_poll` decided if it is None.

    It takes a core for every thread of all `processes` and, if the cores are not given, one more for
    everything else. Threads that busy-poll get no real-time priority: the kernel would then stop them for
    50 ms of every second.
    """
    busy_poll = spec["busy_poll"]
    if busy_poll is None:
        threads = math.ceil(spec["threads"] / processes) * processes
        busy_poll = threads <= (len(set(spec["cores"])) or len(os.sched_getaffinity(0)) - 1)
    return {**spec, "busy_poll": busy_poll, "real_time": spec["real_time"] and not busy_poll}
