"""Real-time scheduling for threads that must send on time."""

import os

__all__ = ["real_time_allowed"]


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
