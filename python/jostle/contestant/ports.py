"""Ports of this machine: a free one, and who listens."""

import contextlib
import errno
import os
import socket
from collections.abc import Collection, Iterable
from pathlib import Path

from jostle.errors import StartFailed
from jostle.processes import descendants

__all__ = ["HOST", "claim", "listens", "may_be_on"]

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


def may_be_on(cores: Collection[int], places: Iterable[str]) -> bool:
    """Whether one of `cores` of this machine may run a server that listens at one of `places`.

    `places`: "HOST:PORT" or "unix:/path". Servers are known by what listens on their ports, in every network
    namespace that can be seen; where nobody is seen behind a listening socket, they may.
    """
    for place in places:
        if place.startswith("unix:"):
            return True
        pids, unclaimed = _listeners(int(place.rpartition(":")[2]))
        workers = {one for pid in pids for one in (pid, *descendants(pid))}
        if unclaimed or any(_cores(pid) & set(cores) for pid in workers):
            return True
    return False


def _taken_by(port: int) -> str:
    for pid in _listeners(port)[0]:
        with contextlib.suppress(OSError):
            return f" by {Path(f'/proc/{pid}/comm').read_text().strip()} (pid {pid})"
    return ""


def _listeners(port: int) -> tuple[list[int], set[str]]:
    """The processes that listen on it, in every network namespace, and sockets that none of them holds."""
    found, claimed = [], set()
    sockets = {os.readlink("/proc/self/ns/net"): _listening_sockets(port)}  # noqa: PTH115 (as below)
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):  # noqa: PTH208 (names are all that is needed)
        with contextlib.suppress(OSError):  # it has ended, or is not ours to look at
            network = os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115 (for all processes)
            if network not in sockets:
                sockets[network] = _listening_sockets(port, f"/proc/{pid}/net")
            if held := sockets[network] & _descriptors(pid):
                found.append(pid)
                claimed |= held
    return found, set().union(*sockets.values()) - claimed


def _cores(pid: int) -> set[int]:
    """Those that one of its threads may run on."""
    found = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            found |= os.sched_getaffinity(int(thread))
    return found


def _listening_sockets(port: int, network: str = "/proc/net") -> set[str]:
    """As they are called in /proc/PID/fd."""
    found = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), Path(network, table).open() as lines:
            next(lines, None)
            for line in lines:  # one at a time: a busy machine has a hundred thousand
                fields = line.split(maxsplit=10)
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
