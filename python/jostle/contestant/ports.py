"""Ports of this machine: a free one, and who listens."""

import errno
import os
import socket
from collections.abc import Iterable
from pathlib import Path

from jostle.errors import StartFailed

__all__ = ["HOST", "claim", "listens"]

HOST = "127.0.0.1"
LISTEN = "0A"


def claim(port: int, host: str = HOST) -> int:
    """`port` if it is free, or a free one for 0. Raises `StartFailed` that names who has it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise StartFailed(
                    f"port {port} on {host} is taken{_taken_by(port)}",
                    "choose another port, or stop what listens there",
                ) from None
            raise StartFailed(
                f"cannot listen on port {port} of {host}: {error.strerror}", "choose a port above 1023"
            ) from None
        return int(probe.getsockname()[1])


def listens(port: int, pids: Iterable[int]) -> bool | None:
    """Whether one of the processes has a listening socket on `port`; None when that cannot be seen."""
    wanted = _listening_sockets(port)
    seen = False
    for pid in pids:
        try:
            if wanted & _descriptors(pid):
                return True
            seen = True
        except OSError:
            continue
    return False if seen else None


def _taken_by(port: int) -> str:
    wanted = _listening_sockets(port)
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted & _descriptors(int(entry.name)):
                return f" by {(entry / 'comm').read_text().strip()} (pid {entry.name})"
        except OSError:
            continue
    return ""


def _listening_sockets(port: int) -> set[str]:
    """As they are called in /proc/PID/fd."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{fields[9]}]")
    return found


def _descriptors(pid: int) -> set[str]:
    links = set()
    with os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            try:
                links.add(os.readlink(entry.path))  # noqa: PTH115 (thousands of them)
            except OSError:
                continue
    return links
