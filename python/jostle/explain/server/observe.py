"""How a server that runs on this machine spends its time: computing, or waiting for a core."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jostle.host.cpu_time import TreeCpu
from jostle.host.process_tree import ProcessTree
from jostle.host.resource_usage import PAGE_BYTES, TICK_S, thread_switches

__all__ = ["Usage", "usage_of"]


@dataclass(frozen=True)
class Usage:
    """Seconds so far: spent on a core, and spent ready to run but without a core; and the memory it holds
    now.
    """

    cpu_s: float
    waited_s: float
    memory_bytes: int = 0
    java: bool = False
    """Whether a Java virtual machine is among the processes: it fills its heap before it collects garbage."""


def usage_of(pid: int) -> Callable[[], Usage]:
    """A function that reads the usage of the whole process tree below `pid`, including the CPU time of
    processes that have ended.
    """
    tree, cpu = ProcessTree(pid), TreeCpu()

    def read() -> Usage:
        stats = tree.members()
        ticks = cpu.add_up(stats, tree.adopter())
        waited_ns = sum(_waited_ns(pid) for pid in stats)
        held = sum(stat.rss_pages for stat in stats.values()) * PAGE_BYTES
        return Usage((ticks.user + ticks.system) * TICK_S, waited_ns / 1e9, held, any(map(_is_java, stats)))

    return read


def _waited_ns(pid: int) -> int:
    return sum(seen[2] for thread in _threads(pid) if (seen := thread_switches(pid, thread)) is not None)


def _is_java(pid: int) -> bool:
    """Whether the process has the thread that every HotSpot machine has, by whatever name it was started."""
    for thread in _threads(pid):
        try:
            if Path(f"/proc/{pid}/task/{thread}/comm").read_bytes() == b"VM Thread\n":
                return True
        except OSError:
            continue  # it has ended
    return False


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 (names are all that is needed)
    except OSError:
        return []
