"""Work that steps back behind everything else on the machine: what is measured comes first."""

import asyncio
import contextlib
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

__all__ = ["Background"]

P = ParamSpec("P")
R = TypeVar("R")

MAX_WAIT_S = 1.0
"""Who waits longer than this for a core would wait for ever: then a page shows nothing."""

LEAVE_S = 30.0
"""For how long the work then takes its share, as other processes do."""


class Background:
    """Runs functions in threads of the kernel's idle class, which leave a core at once to whoever wants it: a
    process that is only nice keeps a server that wakes up waiting for milliseconds. A machine that is never
    idle gives such threads nothing; then they are not used for a while.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._idle: Executor = ThreadPoolExecutor(thread_name_prefix="idle", initializer=_be_idle)
        self._until_s = -LEAVE_S

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Its result. As `asyncio.to_thread`."""
        executor = None if self._clock() < self._until_s else self._idle
        began_s = self._clock()

        def timed() -> tuple[R, float]:
            before_s = time.thread_time()
            result = function(*args, **kwargs)
            return result, time.thread_time() - before_s

        result, used_s = await asyncio.get_running_loop().run_in_executor(executor, timed)
        if self._clock() - began_s - used_s > MAX_WAIT_S:
            self._until_s = self._clock() + LEAVE_S
        return result


def _be_idle() -> None:
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
