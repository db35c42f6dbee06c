"""Which cores the server and the generator get, and whether the latter may have real-time priority."""

import contextlib
import os
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

__all__ = ["Placement", "available_cores", "kept_off", "place", "real_time_allowed", "siblings"]


@dataclass(frozen=True)
class Placement:
    """Which cores server and generator use, by their numbers."""

    server_cores: list[int]
    generator_cores: list[int]
    shared: bool | None
    """Whether server and generator may use the same core; None if unknown."""
    peer_cores: list[int] | None = None
    """Those of the peer, if there is one."""

    def with_peer(self) -> "Placement":
        """A copy with a second server: on half of the server's cores or, if there is only one, on the
        generator's. If cores are shared, it may use all of them too.
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
    """Put server and generator on separate cores.

    The generator gets the last quarter, at least one, in whole physical cores if there are two or more. With
    a single core, or with `share`, both may use all cores.
    """
    if share or len(cores) < 2:
        return Placement(cores, cores, shared=True)
    physical = {tuple(sorted(siblings(core) & {*cores})) for core in cores}
    left = sorted(physical, key=lambda threads: (-len(threads), threads[-1]))
    generators: list[int] = []
    while len(generators) < max(1, len(cores) // 4) and len(left) > 1:
        generators += left.pop()
    generators = sorted(generators) or cores[-1:]
    return Placement([core for core in cores if core not in generators], generators, shared=False)


def siblings(core: int) -> set[int]:
    """The hyperthreads of the same physical core as `core`, itself included."""
    file = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list")
    try:
        return _cores_in(file.read_text())
    except OSError:
        return {core}


def _cores_in(text: str) -> set[int]:
    """Parse a list of cores: `"0-1,8"` → `{0, 1, 8}`."""
    ends = [part.split("-") for part in text.strip().split(",")]
    return {core for end in ends for core in range(int(end[0]), int(end[-1]) + 1)}


@contextlib.contextmanager
def kept_off(cores: Collection[int]) -> Iterator[None]:
    """Keep all threads of this process, and whatever they start, off `cores`, if it has others.

    Afterwards they may use all its cores again. Processes that are started may still choose their own cores.
    """
    own = os.sched_getaffinity(0)
    others = own - set(cores)
    if not others or others == own:
        yield
        return
    _move_to(others)
    try:
        yield
    finally:
        _move_to(own)


def _move_to(cores: set[int]) -> None:
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread.name), cores)


def real_time_allowed() -> bool:
    """Whether this process may give its threads real-time priority, which takes root or RLIMIT_RTPRIO.

    A paced generator sleeps most of the time. On a core that others use too, even if only its own Python, the
    kernel's fair scheduler may wake it some milliseconds late; with real-time scheduling it is some tens of
    microseconds.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))
    except PermissionError:
        return False
    os.sched_setscheduler(0, policy, parameters)
    return True
