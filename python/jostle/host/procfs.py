"""The process table, read from /proc. Linux only. Processes that have vanished read as None or empty."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Stat", "all_pids", "descendants", "is_running", "read_stat", "start_time", "with_environment"]

ENDED = "ZX"
STOPPED = "Tt"
"""States of a process that has ended: a zombie, or dead."""


@dataclass(frozen=True, slots=True)
class Stat:
    """/proc/PID/stat, with times in clock ticks."""

    pid: int
    state: str
    parent: int
    session: int
    user: int
    system: int
    children_user: int
    """Of all descendants that have ended and were waited for."""
    children_system: int
    """Of all descendants that have ended and were waited for."""
    threads: int
    started: int
    """Since boot; together with the pid it identifies a process for ever."""
    rss_pages: int


def read_stat(pid: int) -> Stat | None:
    """The stat of a process; None if it does not exist (any more)."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123 (four times a second, for every process)
            text = file.read(4096)
    except OSError:
        return None
    # The name may contain spaces and brackets, so fields are counted from its last bracket on.
    fields = text[text.rindex(b")") + 2 :].split()
    return Stat(
        pid=pid,
        state=fields[0].decode(),
        parent=int(fields[1]),
        session=int(fields[3]),
        user=int(fields[11]),
        system=int(fields[12]),
        children_user=int(fields[13]),
        children_system=int(fields[14]),
        threads=int(fields[17]),
        started=int(fields[19]),
        rss_pages=int(fields[21]),
    )


def start_time(pid: int) -> int | None:
    """Clock ticks from boot to the start of process `pid`; None if it does not exist or has ended."""
    stat = read_stat(pid)
    return stat.started if stat is not None and stat.state not in ENDED else None


def is_running(pid: int) -> bool:
    """Whether the process exists and has not ended."""
    return start_time(pid) is not None


def all_pids() -> list[int]:
    """The pids of all processes that can be seen."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 (names are all that is needed)


def descendants(root: int) -> list[int]:
    """All living processes below `root`, parents before their children."""
    children: dict[int, list[int]] = {}
    for pid in all_pids():
        if (stat := read_stat(pid)) is not None and stat.state not in ENDED:
            children.setdefault(stat.parent, []).append(stat.pid)
    below = list(children.get(root, ()))
    for pid in below:  # the list grows during the loop
        below += children.get(pid, ())
    return below


def with_environment(value: str) -> list[int]:
    """All processes started with any variable of that value, wherever they are in the process tree."""
    wanted, found = f"={value}\0".encode(), []
    for pid in all_pids():
        with contextlib.suppress(OSError):
            if wanted in Path(f"/proc/{pid}/environ").read_bytes():
                found.append(pid)
    return found
