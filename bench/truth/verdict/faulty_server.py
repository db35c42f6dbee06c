"""A small HTTP server in Python with faults that are planted. Each response takes two milliseconds.

    python faulty_server.py PORT [--errors N] [--resets N] [--dead FROM UNTIL] [--warm-up SECONDS]
                                 [--drift SECONDS] [--modes FILE] [--login-after SECONDS]

Seconds count from the first request that is not for "/", which only asks whether the server is ready.
"""

import argparse
import asyncio
import contextlib
import itertools
import time
from pathlib import Path

SERVICE_S = 0.002
SLOW = 4
"""How many times longer a response takes in a warm-up; at the end of a drift and in the slow mode, twice."""


class Server:
    """One fault, or several; a connection carries one request at a time."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.numbers = itertools.count(1)
        self.begun: float | None = None
        self.open: set[asyncio.StreamWriter] = set()
        self.slow_mode = options.modes is not None and started_before(options.modes) % 2 == 1

    def service_s(self, at_s: float) -> float:
        """How long a response takes at this time."""
        if at_s < self.options.warm_up:
            return SERVICE_S * SLOW
        if self.options.drift:
            return SERVICE_S * (1 + min(1.0, at_s / float(self.options.drift)))
        return SERVICE_S * (2 if self.slow_mode else 1)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                writer.write(await self.response(head.split(b" ", 2)[1] == b"/", writer))
        self.open.discard(writer)
        writer.close()

    async def response(self, ready: bool, writer: asyncio.StreamWriter) -> bytes:
        if ready:
            return b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
        if self.begun is None:
            self.begin()
        at_s, number = time.monotonic() - (self.begun or 0.0), next(self.numbers)
        await asyncio.sleep(self.service_s(at_s))
        if self.options.resets and number % self.options.resets == 0:
            writer.transport.abort()
            raise ConnectionResetError
        if self.options.errors and number % self.options.errors == 0:
            return b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"
        if self.options.login_after is not None and at_s >= self.options.login_after:
            return b"HTTP/1.1 302 Found\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n"
        return b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"

    def begin(self) -> None:
        self.begun = time.monotonic()
        if self.options.dead:
            loop, (dies, lives) = asyncio.get_running_loop(), self.options.dead
            loop.call_later(dies, self.die)
            loop.call_later(lives, lambda: asyncio.ensure_future(self.listen()))

    async def listen(self) -> None:
        self.listener = await asyncio.start_server(self.serve, "127.0.0.1", self.options.port)

    def die(self) -> None:
        """Nothing listens any more, and all connections are reset, as if the process had ended."""
        self.listener.close()
        for writer in list(self.open):
            writer.transport.abort()


def started_before(file: Path) -> int:
    """How often a server with this file has been started before."""
    with file.open("a+") as lines:
        lines.seek(0)
        before = len(lines.readlines())
        lines.write("started\n")
    return before


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--errors", type=int, default=0, help="a 503 for one request of so many")
    parser.add_argument("--resets", type=int, default=0, help="a reset for one request of so many")
    parser.add_argument("--dead", type=float, nargs=2, help="nothing listens from then until then")
    parser.add_argument("--warm-up", type=float, default=0.0, help="slower until then")
    parser.add_argument("--drift", type=float, default=0.0, help="slower and slower until then")
    parser.add_argument("--modes", type=Path, help="every other start is slower; the file counts them")
    parser.add_argument("--login-after", type=float, help="redirects to /login from then on")
    return parser.parse_args()


async def main() -> None:
    await Server(arguments()).listen()
    await asyncio.Event().wait()


asyncio.run(main())
