"""Real-time scheduling for threads that must send on time."""

import contextlib
import os
from collections.abc import Iterator

__all__ = ["real_time"]


@contextlib.contextmanager
def real_time(wanted: bool) -> Iterator[bool]:
    """Threads that are started inside run before all ordinary ones (SCHED_RR, lowest priority).

    A paced generator sleeps most of the time; on a core where others work too, the kernel's fair scheduler
    wakes it up to a few milliseconds late, real-time scheduling some tens of microseconds. Threads inherit
    the policy of the one that starts them. Yields whether they do: it takes root or RLIMIT_RTPRIO.
    """
    if not wanted:
        yield False
        return
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(os.sched_get_priority_min(os.SCHED_RR)))
    except PermissionError:
        yield False
        return
    try:
        yield True
    finally:
        os.sched_setscheduler(0, policy, parameters)
