"""A plain client, which knows nothing of jostle: what it sees of an application is what is there."""

import http.client
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from faults.hall import Running
from jostle.host import ports

__all__ = ["Client", "Response", "all_at_once", "ends", "stats"]

PATIENCE_S = 60.0


@dataclass(frozen=True)
class Response:
    path: str
    status: int
    seconds: float
    ended: float
    """By the monotonic clock."""


class Client:
    """One connection, opened before the first request."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection(ports.HOST, port, timeout=PATIENCE_S)
        self._connection.connect()

    def get(self, path: str) -> Response:
        began = time.monotonic()
        self._connection.request("GET", path)
        response = self._connection.getresponse()
        response.read()
        ended = time.monotonic()
        return Response(path, response.status, ended - began, ended)

    @property
    def is_open(self) -> bool:
        """Whether the last response left the connection open."""
        return self._connection.sock is not None

    def close(self) -> None:
        self._connection.close()


def all_at_once(port: int, paths: Sequence[str]) -> list[Response]:
    """The responses to requests that are sent together, in the order of `paths`. Each has a connection of its
    own, which is open before.
    """
    together = threading.Barrier(len(paths))

    def one(client: Client, path: str) -> Response:
        together.wait(PATIENCE_S)
        return client.get(path)

    clients = [Client(port) for _ in paths]
    try:
        with ThreadPoolExecutor(len(paths)) as pool:
            return list(pool.map(one, clients, paths))
    finally:
        for client in clients:
            client.close()


def ends(responses: Sequence[Response]) -> list[float]:
    """When each of them was there, in order, in seconds since the first was asked for. Requests that a busy
    machine sends late wait for less, but none of them is answered sooner than this.
    """
    first = min(response.ended - response.seconds for response in responses)
    return sorted(response.ended - first for response in responses)


def stats(running: Running) -> dict[str, Any]:
    """What the application itself has counted."""
    return running.server.ask("/stats")
