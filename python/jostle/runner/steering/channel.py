"""The way to the process that runs a load: a socket in the run's folder, for its own user alone.

A request is a line of JSON, and so is the response.
"""

import contextlib
import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jostle.host.exhaustion import within_limits

__all__ = ["SOCKET", "NobodyThere", "request", "serving"]

SOCKET = "control.sock"

MAX_BYTES = 64 << 10
MAX_PATH_BYTES = 100
PATIENCE_S = 2.0
"""How long a request may take to come in whole."""

RESPONSE_S = 60.0

Json = dict[str, Any]


class NobodyThere(Exception):
    """Nobody serves the socket."""


@contextlib.contextmanager
def serving(folder: Path, respond: Callable[[Json], Json]) -> Iterator[None]:
    """Inside, a thread responds to requests. Where the folder's file system has no sockets, nobody does."""
    try:
        listener = _listener(folder)
    except OSError:
        yield
        return
    thread = threading.Thread(target=_serve, args=(listener, respond), name="control", daemon=True)
    try:
        with within_limits():
            thread.start()
        yield
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        listener.close()
        with contextlib.suppress(OSError):
            (folder / SOCKET).unlink()


def request(folder: Path, what: Json) -> Json:
    """The response of the process that serves the folder's socket. Raises `NobodyThere`."""
    with contextlib.ExitStack() as stack:
        try:
            connection = stack.enter_context(socket.socket(socket.AF_UNIX))
            connection.settimeout(RESPONSE_S)
            connection.connect(stack.enter_context(_address(folder)))
            connection.sendall(json.dumps(what).encode() + b"\n")
            line = _line(connection)
        except OSError as error:
            raise NobodyThere(str(error)) from None
    if not line:
        raise NobodyThere("it closed the connection")
    response: Json = json.loads(line)
    return response


def _listener(folder: Path) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        (folder / SOCKET).unlink()  # of a process that was killed
    listener = socket.socket(socket.AF_UNIX)
    try:
        with _address(folder) as address:
            listener.bind(address)
        (folder / SOCKET).chmod(0o600)
        listener.listen()  # nobody could connect before
    except OSError:
        listener.close()
        raise
    return listener


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    """The socket's path; where that is too long for an address (108 bytes), one through an open folder."""
    if len(os.fsencode(folder / SOCKET)) < MAX_PATH_BYTES or not Path("/proc/self/fd").is_dir():
        yield str(folder / SOCKET)
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{fd}/{SOCKET}"
    finally:
        os.close(fd)


def _serve(listener: socket.socket, respond: Callable[[Json], Json]) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError, ValueError):
            connection.settimeout(PATIENCE_S)
            what = json.loads(_line(connection))
            connection.sendall(json.dumps(respond(what)).encode() + b"\n")


def _line(connection: socket.socket) -> bytes:
    """Up to the line end, or what there is if the other one closes before or says too much."""
    line = b""
    while not line.endswith(b"\n") and len(line) < MAX_BYTES:
        piece = connection.recv(4096)
        if not piece:
            break
        line += piece
    return line
