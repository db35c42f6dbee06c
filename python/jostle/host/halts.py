"""When this machine stands still, as threads see it that do nothing but sleep, one on each core.

A thread that slept is given its core within a few milliseconds, even by a program that computes all the
time. If it wakes much later, nothing else that slept there could have gone on either: the hypervisor took the
core, or too many wanted it.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["Halt", "late_wakes", "watched"]

STEP_S, LATE_S = 0.005, 0.010
"""For how long a thread sleeps, and by how much later than that it has to wake to be told."""

MAX_CORES = 8
"""A machine with more cores is watched by a single thread on any of them, as a server there may move."""


@dataclass(frozen=True)
class Halt:
    """From `begin_s` to `end_s` nothing that slept could go on, in seconds of the Unix clock or of a load."""

    begin_s: float
    end_s: float

    def since(self, start_s: float) -> "Halt":
        """The same, counted from `start_s`."""
        return Halt(self.begin_s - start_s, self.end_s - start_s)


def late_wakes(now: Callable[[], float], sleep: Callable[[float], bool]) -> Iterator[Halt]:
    """Sleeps until `sleep` says that it is enough, and yields when it woke late."""
    due_s = now() + STEP_S
    while not sleep(STEP_S):
        woken_s = now()
        if woken_s - due_s >= LATE_S:
            yield Halt(due_s, woken_s)
        due_s = now() + STEP_S


@contextlib.contextmanager
def watched(halts: list[Halt]) -> Iterator[None]:
    """Watches meanwhile; adds all halts in the end, in any order."""
    cores = os.cpu_count() or 1
    enough = threading.Event()
    places = [{core} for core in range(cores)] if cores <= MAX_CORES else [set(range(cores))]
    threads = [threading.Thread(target=_watch, args=(place, enough, halts), daemon=True) for place in places]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        enough.set()
        for thread in threads:
            thread.join()


def _watch(cores: set[int], enough: threading.Event, halts: list[Halt]) -> None:
    """Nothing is seen of a core that this process may not use."""
    if hasattr(os, "sched_setaffinity"):
        try:
            os.sched_setaffinity(0, cores)
        except OSError:
            return
    halts.extend(late_wakes(time.time, enough.wait))
