"""Serves the page until it is stopped, beside measurements that it must not disturb."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import uvicorn

from jostle.host.cores import available_cores, place
from jostle.web.app import Web
from jostle.web.listener import Listener

__all__ = ["give_way", "serve", "step_back"]

NICE = 10
"""A tenth of what a measurement gets where both want the same core."""

LOOK_S, STARVED_S = 0.5, 1.0
USUAL = os.SCHED_OTHER, os.sched_param(0)

GRACE_S = 1
"""How long responses may still take when it is stopped."""


def step_back() -> None:
    """Leave the cores of generators, and let others go first on the rest. Before there are any threads."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
        os.sched_setaffinity(0, place(available_cores(), share=False).server_cores)


def give_way() -> frozenset[int]:
    """Beside what is measured: as `step_back`, and of the kernel's idle class, which leaves a core at once to
    whoever wants it. A process that is only nice keeps a server that wakes up waiting for milliseconds.
    Returns the cores that it had before.
    """
    cores = frozenset(available_cores())
    step_back()
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    return cores


async def unless_starved(
    cores: frozenset[int],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> None:
    """Returns once the process got nothing of its cores for `STARVED_S`, as none of them is ever idle. From
    then on it may use these, and take what the generators leave of theirs; where the system lets it, it is
    only nice as well.
    """
    while True:
        due_s = clock() + LOOK_S
        await sleep(LOOK_S)
        if clock() > due_s + STARVED_S:
            give_way_no_more(cores)
            return


def give_way_no_more(cores: frozenset[int]) -> None:
    """All threads may use `cores`, and are only nice where the system lets them leave the idle class."""
    for thread in Path("/proc/self/task").iterdir():
        for change, to in ((os.sched_setaffinity, (cores,)), (os.sched_setscheduler, USUAL)):
            with contextlib.suppress(OSError):  # it has ended, or may not
                change(int(thread.name), *to)


def _is_news(record: logging.LogRecord) -> bool:
    """A viewer that was let go is none."""
    return "without completing response" not in record.getMessage()


def serve(web: Web, listener: Listener, *, beside: frozenset[int] | None = None) -> None:
    """Until Ctrl-C, SIGTERM, or until the terminal is closed; the signal then has its usual effect.

    `beside`: it is beside what is measured, after `give_way`, with these cores. Then until whoever started it
    is gone; those who watch are told before how the run ended.
    """
    config = uvicorn.Config(
        web.application,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        ssl_certfile=listener.cert,
        ssl_keyfile=listener.key,
    )
    server = uvicorn.Server(config)
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    signal.signal(signal.SIGHUP, lambda number, _: server.handle_exit(number, None))

    async def run() -> None:
        if beside is not None:
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), at_end, beside)
            tasks.append(asyncio.ensure_future(unless_starved(beside)))
        await server.serve(sockets=[listener.socket])

    async def end(cores: frozenset[int]) -> None:
        give_way_no_more(cores)  # nothing is measured any more
        await web.finish()
        server.should_exit = True

    def at_end(cores: frozenset[int]) -> None:
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        tasks.append(asyncio.ensure_future(end(cores)))

    tasks: list[asyncio.Future[None]] = []
    asyncio.run(run())
