"""Which cores the server gets and which the generator, and whether it may run with real-time priority."""

import os
from dataclasses import asdict, dataclass, replace
from typing import Any

__all__ = ["Placement", "available_cores", "place", "real_time_allowed"]


@dataclass(frozen=True)
class Placement:
    """Core numbers; `shared` when server and generator may use the same core, None when it is not known.

    `peer_cores`: of the peer, where there is one.
    """

    server_cores: list[int]
    generator_cores: list[int]
    shared: bool | None
    peer_cores: list[int] | None = None

    def with_peer(self) -> "Placement":
        """The same with a second server: on half of the server's cores, or, where it has one only, on the
        generator's. Where cores are shared, it may use all of them too.
        """
        if self.shared is not False:
            return replace(self, peer_cores=self.server_cores)
        if len(self.server_cores) < 2:
            return replace(self, peer_cores=self.generator_cores)
        half = len(self.server_cores) // 2
        return replace(self, server_cores=self.server_cores[:-half], peer_cores=self.server_cores[-half:])

    def as_record(self) -> dict[str, Any]:
        return asdict(self)


def available_cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0))


def place(cores: list[int], share: bool) -> Placement:
    """Server and generator on separate cores: the generator has the last quarter, at least one.

    With a single core, or with `share`, both may use all of them.
    """
    if share or len(cores) < 2:
        return Placement(cores, cores, shared=True)
    generators = max(1, len(cores) // 4)
    return Placement(cores[:-generators], cores[-generators:], shared=False)


def real_time_allowed() -> bool:
    """Whether this process may let its threads run before all ordinary ones: it takes root or RLIMIT_RTPRIO.

    A paced generator sleeps most of the time. On a core where others work too, if only its own Python, the
    kernel's fair scheduler wakes it up to some milliseconds late, real-time scheduling some tens of
    microseconds.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))
    except PermissionError:
        return False
    os.sched_setscheduler(0, policy, parameters)
    return True
