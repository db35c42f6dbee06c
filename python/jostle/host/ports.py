"""Ports of this machine: which are free, and who listens on them."""

import contextlib
import errno
import os
import socket
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from jostle.errors import StartFailed
from jostle.host.procfs import all_pids, descendants
from jostle.text import reason

__all__ = ["HOST", "claim", "listens", "may_be_on"]

HOST = "127.0.0.1"
TCP = {"tcp": "0A", "tcp6": "0A"}
"""Tables of /proc/net, each with the state of a socket that listens."""
UDP = {"udp": "07", "udp6": "07"}


def claim(port: int, host: str = HOST) -> int:
    """`port` if it is free, or any free port for 0. Raises a `StartFailed` that says who has it."""
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
                f"cannot listen on port {port} of {host}: {reason(error)}", "choose a port above 1023"
            ) from None
        return int(probe.getsockname()[1])


def listens(port: int, pids: Iterable[int]) -> bool | None:
    """Whether one of the processes has a listening socket on `port`; None if that cannot be seen."""
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

    `places`: "HOST:PORT" or "unix:/path". Servers are found by the sockets that listen on their ports, in
    every network namespace that can be seen. If a socket's process cannot be seen, the response is True.
    """
    networks = _networks()
    for place in places:
        if place.startswith("unix:"):
            return True
        port = int(place.rpartition(":")[2])
        sockets = set().union(*(_listening_sockets(port, network, TCP | UDP) for network in networks))
        holders = _holders(sockets)
        workers = {one for pid in holders for one in (pid, *descendants(pid))}
        if sockets.difference(*holders.values()) or any(_cores(pid) & set(cores) for pid in workers):
            return True
    return False


def _taken_by(port: int) -> str:
    for pid in _holders(_listening_sockets(port)):
        with contextlib.suppress(OSError):
            return f" by {Path(f'/proc/{pid}/comm').read_text().strip()} (pid {pid})"
    return ""


def _holders(sockets: set[str]) -> dict[int, set[str]]:
    """The visible processes that hold some of `sockets`, and which they hold."""
    found = {}
    for pid in all_pids() if sockets else []:
        with contextlib.suppress(OSError):  # it has ended, or is not ours to look at
            if held := sockets & _descriptors(pid):
                found[pid] = held
    return found


def _networks() -> list[str]:
    """/proc/PID/net of each network namespace that can be seen, this process's own first."""
    found = {os.readlink("/proc/self/ns/net"): "/proc/net"}  # noqa: PTH115 (as below)
    for pid in all_pids():
        with contextlib.suppress(OSError):
            found.setdefault(os.readlink(f"/proc/{pid}/ns/net"), f"/proc/{pid}/net")  # noqa: PTH115 (for all processes)
    return list(found.values())


def _cores(pid: int) -> set[int]:
    """The cores on which any of its threads may run."""
    found = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            found |= os.sched_getaffinity(int(thread))
    return found


def _listening_sockets(port: int, network: str = "/proc/net", tables: Mapping[str, str] = TCP) -> set[str]:
    """The sockets that listen on `port`, by their names in /proc/PID/fd."""
    found = set()
    for table, state in tables.items():
        with contextlib.suppress(OSError), Path(network, table).open() as lines:
            next(lines, None)
            for line in lines:  # one at a time: a busy machine has a hundred thousand
                fields = line.split(maxsplit=10)
                if fields[3] == state and int(fields[1].rpartition(":")[2], 16) == port:
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
