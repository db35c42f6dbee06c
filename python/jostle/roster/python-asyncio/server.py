"""One thread, one event loop: while a request computes, every other one waits."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from contract import App


class Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave SIGTERM its default action: a graceful stop would wait for a handler that computes."""
        yield


if __name__ == "__main__":
    config = uvicorn.Config(
        App("python-asyncio", workers=1),
        host=os.environ["HOST"],
        port=int(os.environ["PORT"]),
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio",
        lifespan="on",
        backlog=4096,
        timeout_keep_alive=86_400,
        access_log=False,
        log_level="error",
    )
    Server(config).run()
