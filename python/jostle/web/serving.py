"""Serves the page until it is stopped, beside measurements that it must not disturb."""

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

import uvicorn

from jostle.web.listener import Listener

if TYPE_CHECKING:
    from starlette.types import ASGIApp

__all__ = ["serve", "step_back"]

NICE = 10
"""A tenth of what a measurement gets where both want the same core."""

GRACE_S = 1
"""How long responses may still take when it is stopped."""


def step_back() -> None:
    """Let others go first on the cores."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICE)


def serve(app: "ASGIApp", listener: Listener) -> None:
    """Until Ctrl-C, SIGTERM, or until the terminal is closed; the signal then has its usual effect."""
    config = uvicorn.Config(
        app,
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
    signal.signal(signal.SIGHUP, lambda number, _: server.handle_exit(number, None))
    asyncio.run(server.serve(sockets=[listener.socket]))
