"""Serves the page until it is stopped, beside measurements that it must not disturb."""

import asyncio
import contextlib
import logging
import os
import signal
import sys

import uvicorn

from jostle.host.cores import available_cores, place
from jostle.web.app import Web
from jostle.web.listener import Listener

__all__ = ["serve", "step_back"]

NICE = 10
"""A tenth of what a measurement gets where both want the same core."""

GRACE_S = 1
"""How long responses may still take when it is stopped."""


def step_back() -> None:
    """Leave the cores of generators, and let others go first on the rest. Before there are any threads."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)
        os.sched_setaffinity(0, place(available_cores(), share=False).server_cores)


def _is_news(record: logging.LogRecord) -> bool:
    """A viewer that was let go is none."""
    return "without completing response" not in record.getMessage()


def serve(web: Web, listener: Listener, *, until_stdin_ends: bool = False) -> None:
    """Until Ctrl-C, SIGTERM, or until the terminal is closed; the signal then has its usual effect. Or until
    whoever started it is gone; those who watch are told before how the run ended.
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
        if until_stdin_ends:
            asyncio.get_running_loop().add_reader(sys.stdin.fileno(), at_end)
        await server.serve(sockets=[listener.socket])

    async def end() -> None:
        await web.finish()
        server.should_exit = True

    def at_end() -> None:
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        tasks.append(asyncio.ensure_future(end()))

    tasks: list[asyncio.Future[None]] = []
    asyncio.run(run())
