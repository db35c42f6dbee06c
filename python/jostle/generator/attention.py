"""Whether the generator's threads wait awake: the plan's `attention`, decided for one trial.

A thread that sleeps reports its own waking up as a part of every response time; one that waits awake needs a
core for itself. Under `auto` it does so only where nobody else may be on its cores, and where what runs on
the other hyperthreads of these cores is not slowed down by it, as `jostle doctor --calibrate` measured.
"""

import math
import os
from collections.abc import Collection, Mapping
from typing import Any

from jostle.host.cores import siblings
from jostle.host.floor import Floor

__all__ = ["SLOWDOWN", "leaves_others_alone", "with_attention"]

SLOWDOWN = 0.02
"""By so much a CPU-bound request may take longer because the generator is awake."""


def leaves_others_alone(
    cores: Collection[int], others: Collection[int], floor: Floor | None, quota: float | None = None
) -> bool:
    """Whether threads that wait awake on `cores` leave `others` as fast as they are.

    `quota`: so many cores' CPU time the container has for all of them; whoever waits awake uses it up.
    Where they are hyperthreads of the same physical cores only a measurement tells; without one, no.
    """
    if quota is not None and quota < len({*cores, *others}):
        return False
    if set(cores) & set(others):
        return False
    if not set().union(*map(siblings, cores)) & set(others):
        return True
    slowdown = floor.get("slowdown") if floor else None
    return slowdown is not None and slowdown <= SLOWDOWN


def with_attention(spec: Mapping[str, Any], processes: int = 1) -> dict[str, Any]:
    """The specification with `attentive` decided, where it is None: it takes a core for every thread of all
    `processes`, and, where these are not named, one more for everything else.

    Threads that wait awake do not have real-time priority: the kernel would take 50 ms of every second.
    """
    attentive = spec["attentive"]
    if attentive is None:
        threads = math.ceil(spec["threads"] / processes) * processes
        attentive = threads <= (len(set(spec["cores"])) or len(os.sched_getaffinity(0)) - 1)
    return {**spec, "attentive": attentive, "real_time": spec["real_time"] and not attentive}
