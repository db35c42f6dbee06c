"""The limits of this machine: open files, local ports, memory and CPU time. No other module reads them."""

import itertools
import os
import resource
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

__all__ = [
    "RESERVED_FILES",
    "RESERVED_PORTS",
    "CgroupLimits",
    "OpenFiles",
    "PortRange",
    "TaskLimits",
    "accept_queue",
    "cgroup_folders",
    "cgroup_limits",
    "connections_within",
    "free_local_ports",
    "local_port_range",
    "memory_bytes",
    "open_files",
    "task_limits",
]

RESERVED_FILES = 200
"""Descriptors that a process needs apart from its connections: libraries, listeners, timers, pipes, logs."""

RESERVED_PORTS = 200
"""Local ports that other programs may have taken."""

PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
SET_ASIDE = Path("/proc/sys/net/ipv4/ip_local_reserved_ports")
ACCEPT_QUEUE = Path("/proc/sys/net/core/somaxconn")
NO_LIMIT_BYTES = 1 << 60
"""cgroup v1 writes "no limit" as a number near 2^63, rounded to pages."""


@dataclass(frozen=True)
class OpenFiles:
    """How many files a process may have open; None: no limit. A process may raise `soft` up to `hard`."""

    soft: int | None
    hard: int | None

    def as_record(self) -> dict[str, int]:
        """For the record; -1 means no limit, as in getrlimit."""
        return {name: -1 if n is None else n for name, n in (("soft", self.soft), ("hard", self.hard))}


def open_files() -> OpenFiles:
    """The limits of this process and of those that it starts."""
    return OpenFiles(
        *(None if n == resource.RLIM_INFINITY else n for n in resource.getrlimit(resource.RLIMIT_NOFILE))
    )


def connections_within(files: int) -> int:
    """How many connections a process can hold if it may have `files` files open."""
    return max(0, files - RESERVED_FILES)


@dataclass(frozen=True)
class PortRange:
    """The ports that the kernel gives to outgoing connections, both ends included."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read the text of /proc/sys/net/ipv4/ip_local_port_range ("32768 60999"); None for other text."""
        words = text.split()
        if len(words) != 2 or not all(word.isdecimal() for word in words):
            return None
        return cls(int(words[0]), int(words[1]))

    def __len__(self) -> int:
        return self.high - self.low + 1


def local_port_range() -> PortRange:
    """The range of this network namespace."""
    found = PortRange.parse(PORT_RANGE.read_text())
    assert found is not None, f"{PORT_RANGE} holds two numbers"
    return found


def free_local_ports() -> int:
    """How many ports of that range connections can get, without those an administrator has set aside."""
    ports = local_port_range()
    aside = (part.partition("-") for part in _read(SET_ASIDE).split(",") if part)
    taken = {port for low, _, high in aside for port in range(int(low), int(high or low) + 1)}
    return len(ports) - sum(ports.low <= port <= ports.high for port in taken)


def accept_queue() -> int:
    """How many connections may wait until a server accepts them (net.core.somaxconn)."""
    return int(ACCEPT_QUEUE.read_text())


def memory_bytes() -> int:
    """The memory of the whole machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@dataclass(frozen=True)
class CgroupLimits:
    """What a container or other cgroup may use of the machine; None if no limit can be seen."""

    memory_bytes: int | None
    cpus: float | None

    def as_record(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


def cgroup_limits(
    membership: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")
) -> CgroupLimits:
    """The tightest limits of this process's cgroup and of those above it, in version 1 or 2."""
    memory: list[int] = []
    cpus: list[float] = []
    for folder in itertools.chain(*cgroup_folders(_read(membership), mount)):
        for name in ("memory.max", "memory.limit_in_bytes"):
            if (limit := _read(folder / name)).isdecimal() and int(limit) < NO_LIMIT_BYTES:
                memory.append(int(limit))
        quota, _, period = _read(folder / "cpu.max").partition(" ")
        for used, per in (
            (quota, period),
            (_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")),
        ):
            if used.isdecimal() and per.isdecimal():
                cpus.append(int(used) / int(per))
    return CgroupLimits(min(memory, default=None), min(cpus, default=None))


@dataclass(frozen=True)
class TaskLimits:
    """How many processes and threads there may be; None if no limit can be seen."""

    user: int | None
    """For all programs of this user (does not apply to root)."""
    cgroup: int | None
    """In this container or cgroup."""

    def __str__(self) -> str:
        known = [f"this user may have {self.user:,} (ulimit -u)"] if self.user is not None else []
        known += [f"this container or cgroup {self.cgroup:,} (pids.max)"] if self.cgroup is not None else []
        return ", ".join(known)


def task_limits(
    membership: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")
) -> TaskLimits:
    """The limits that apply to this process."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    folders = itertools.chain(*cgroup_folders(_read(membership), mount))
    limits = [int(text) for folder in folders if (text := _read(folder / "pids.max")).isdecimal()]
    user = None if soft == resource.RLIM_INFINITY or os.geteuid() == 0 else soft
    return TaskLimits(user, min(limits, default=None))


def cgroup_folders(membership: str, mount: Path = Path("/sys/fs/cgroup")) -> list[list[Path]]:
    """The folder of each cgroup that a process is in, followed by those above it.

    `membership`: the text of /proc/PID/cgroup. Version 2 has one tree, version 1 has one for each controller.
    In a container the path may be that of the host; the container's own folder is then the root.
    """
    folders = []
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            root = mount / controller
            inner = root / path.lstrip("/")
            folders.append([folder for folder in (inner, *inner.parents) if folder.is_relative_to(root)])
    return folders


def _read(path: Path) -> str:
    """The text of a file; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
