"""Processes, each with one event loop: while a request computes, the others of its process wait."""

import os

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops
from granian.http import HTTP1Settings

from contract import App

WORKERS = int(os.environ["WORKERS"])

app = App("python-granian", WORKERS)

if __name__ == "__main__":
    Granian(
        "server:app",
        address=os.environ["HOST"],
        port=int(os.environ["PORT"]),
        interface=Interfaces.ASGI,
        workers=WORKERS,
        loop=Loops.uvloop,
        http=HTTPModes.auto,
        http1_settings=HTTP1Settings(header_read_timeout=86_400_000),  # ms; of a connection that is kept, too
        backlog=4096,
        backpressure=1_000_000,  # connections that a worker accepts; by default its share of the backlog
        log_enabled=False,
        workers_kill_timeout=1,  # s, at SIGTERM, for a worker that computes
    ).serve()
