"""Threads that leave a core to the load as soon as it wants it: jostle's own work while a load runs.

A thread can lower its own priority without privilege, but not raise it again. So what records and watches a
load has threads of its own, which end with it, and the main thread only waits.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from jostle._engine import lower_priority
from jostle.host.exhaustion import within_limits

__all__ = ["at_low_priority", "lower_priority"]

T = TypeVar("T")


def at_low_priority(work: Callable[[], T]) -> T:
    """What `work` gives or raises, done in a thread of low priority.

    Signals still reach the waiting main thread. Raises `StartRefused` where no further thread can be started.
    """
    pool = ThreadPoolExecutor(1, "low priority", lower_priority)
    with within_limits():
        done = pool.submit(work)
    pool.shutdown(wait=False)
    try:
        return done.result()
    finally:
        del done  # its error holds this frame: a circle, which would keep open whatever `work` had open
