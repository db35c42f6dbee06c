"""What a server's whole process tree uses: CPU, memory, processes, threads, switches, connections.

Read from /proc four times a second while a trial runs. Three of the figures are costly for large servers: PSS
walks the page tables, switches are counted thread by thread, connections descriptor by descriptor. Each of
these is read only so often that it takes no more than `CPU_SHARE` of a core.
"""

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from jostle.host.cpu_time import TreeCpu
from jostle.host.exhaustion import within_limits
from jostle.host.files import open_to_append
from jostle.host.process_tree import ProcessTree
from jostle.host.procfs import ENDED, STOPPED

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["TICK_S", "Sample", "Sampler", "Samples", "Watcher", "read_some", "thread_switches"]

CPU_SHARE = 1 / 200
"""The largest share of a core that reading one of the costly figures may take."""
PSS_EVERY_S = 1.0

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

T = TypeVar("T")


@dataclass(frozen=True)
class Sample:
    """A line of server.ndjson.

    `t_ns`: since the trial's start. CPU time and switches are those of the whole tree since it began,
    including ended processes and threads (switches of ended threads as far as they were seen). `pss_bytes`,
    `connections`: None if this sample did not read them. `connections`: open sockets of any kind; one that is
    shared counts once. `peak_rss_bytes`: the sum of the peaks of all living processes as the kernel keeps
    them, so what came and went between two samples is included. `peak_virtual_bytes`: the same for address
    space, used or not. `waited_s`: time in which threads were runnable without a processor, counted like
    switches. `stopped`: how many processes are stopped, by a signal or a debugger.
    """

    t_ns: int
    """Since the trial's start."""
    cpu_user_s: float
    cpu_system_s: float
    rss_bytes: int
    pss_bytes: int | None
    """None if this sample did not read it."""
    threads: int
    processes: int
    voluntary: int
    involuntary: int
    connections: int | None
    """Open sockets of any kind, each of them once; None if this sample did not read them."""
    peak_rss_bytes: int = 0
    """The sum of the peaks of all living processes as the kernel keeps them, so what came and went between
    two samples is included."""
    peak_virtual_bytes: int = 0
    """The same for address space, used or not."""
    waited_s: float = 0.0
    stopped: int = 0


class Samples(Protocol):
    """Anything that can be watched."""

    def sample(self, t_ns: int) -> "DataclassInstance | None":
        """The current state; None if nothing is left."""


class Watcher:
    """Writes samples to `path`, a JSON line each, until it is stopped or nothing is left."""

    def __init__(self, sampler: Samples, path: Path, started_unix_ns: int, every_s: float = 0.25) -> None:
        self._sampler = sampler
        self._path = path
        self._every_s = every_s
        # Wall clock once, then monotonic, so that times do not jump when the clock is set.
        self._offset_ns = time.time_ns() - time.monotonic_ns() - started_unix_ns
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="jostle-resource-usage", daemon=True)

    def start(self) -> None:
        """Start the thread. Raises `StartRefused` if no further thread can be started."""
        with within_limits():
            self._thread.start()

    def stop(self) -> None:
        """Take a last sample, and return when it is written."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        """On a full disk the samples just end; recording the load meets the same error and reports it."""
        with contextlib.suppress(OSError):
            self._run()

    def _run(self) -> None:
        with open_to_append(self._path) as file:
            due_s = time.monotonic()
            more = True
            while more:
                due_s = max(due_s + self._every_s, time.monotonic())
                more = not self._stopped.is_set()
                sample = self._sampler.sample(time.monotonic_ns() + self._offset_ns)
                if sample is None:
                    return
                file.write(json.dumps(asdict(sample)) + "\n")
                file.flush()
                self._stopped.wait(due_s - time.monotonic())


class Sampler:
    """Tracks the members of one process tree, and adds up what they use."""

    def __init__(self, root: int) -> None:
        self._cpu = TreeCpu()
        self._switches = _Switches()
        self._tree = ProcessTree(root)
        self._read_pss = _RateLimited(_pss_bytes, PSS_EVERY_S)
        self._read_switches = _RateLimited(self._switches.read, 0.0)
        self._read_connections = _RateLimited(_sockets, 0.0)
        self._last_switches = (0, 0, 0)

    def sample(self, t_ns: int) -> Sample | None:
        """What the tree uses now; None if nothing of it is left."""
        # Parents before children, so that a child that ends in between is missing, but never counted twice.
        adopter = self._tree.adopter()
        stats = self._tree.members()
        living = [stat for stat in stats.values() if stat.state not in ENDED]
        if not living:
            return None
        cpu = self._cpu.add_up(stats, adopter)
        pids = [stat.pid for stat in living]
        self._last_switches = self._read_switches(pids) or self._last_switches
        peaks = [_peaks(pid) for pid in pids]
        return Sample(
            t_ns=t_ns,
            cpu_user_s=round(cpu.user * TICK_S, 3),
            cpu_system_s=round(cpu.system * TICK_S, 3),
            rss_bytes=sum(stat.rss_pages for stat in living) * PAGE_BYTES,
            pss_bytes=self._read_pss(pids),
            threads=sum(stat.threads for stat in living),
            processes=len(living),
            voluntary=self._last_switches[0],
            involuntary=self._last_switches[1],
            connections=self._read_connections(pids),
            peak_rss_bytes=sum(resident for resident, _ in peaks),
            peak_virtual_bytes=sum(virtual for _, virtual in peaks),
            waited_s=round(self._last_switches[2] / 1e9, 6),
            stopped=sum(stat.state in STOPPED for stat in living),
        )


class _RateLimited(Generic[T]):
    """A reading that is taken when it is due; its cost decides when the next one is due."""

    def __init__(
        self,
        read: Callable[[list[int]], T],
        every_s: float,
        clock: Callable[[], float] = time.monotonic,
        cpu_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self._read = read
        self._every_s = every_s
        self._clock = clock
        self._cpu_clock = cpu_clock
        self._due_s = 0.0

    def __call__(self, pids: list[int]) -> T | None:
        now_s = self._clock()
        if now_s < self._due_s:
            return None
        before_s = self._cpu_clock()
        value = self._read(pids)
        self._due_s = now_s + max(self._every_s, (self._cpu_clock() - before_s) / CPU_SHARE)
        return value


class _Switches:
    """Context switches and waiting time of all threads; those of ended threads as far as they were seen."""

    def __init__(self) -> None:
        self._seen: dict[tuple[int, int], Switches] = {}  # by process and thread
        self._ended = (0, 0, 0)

    def read(self, pids: list[int]) -> "Switches":
        now: dict[tuple[int, int], Switches] = {}
        for pid in pids:
            for thread in _list(f"/proc/{pid}/task"):
                if (switches := thread_switches(pid, thread)) is not None:
                    now[pid, int(thread)] = switches
        for key, last in self._seen.items():
            reused = key in now and any(here < before for here, before in zip(now[key], last, strict=True))
            if key not in now or reused:  # it has ended, and its number may be another thread's
                self._ended = _sum([self._ended, last])
        self._seen = now
        return _sum([self._ended, *now.values()])


Switches = tuple[int, int, int]
"""Voluntary switches, involuntary switches, and nanoseconds runnable without a processor."""


def _sum(counts: Iterable[Switches]) -> Switches:
    voluntary, involuntary, waited_ns = zip(*counts, strict=True)
    return sum(voluntary), sum(involuntary), sum(waited_ns)


def thread_switches(pid: int, thread: str) -> Switches | None:
    """The switches of a thread; None if it has ended. Without schedstats in the kernel, waiting time is 0."""
    try:
        status = read_some(f"/proc/{pid}/task/{thread}/status")
    except OSError:
        return None
    try:
        schedstat = read_some(f"/proc/{pid}/task/{thread}/schedstat").split()
    except OSError:
        schedstat = []
    fields = status[status.rindex(b"\nvoluntary_ctxt_switches:") :].split(None, 4)
    waited_ns = int(schedstat[1]) if len(schedstat) > 1 else 0
    return int(fields[1]), int(fields[3]), waited_ns  # the line of the involuntary ones comes next


def _peaks(pid: int) -> tuple[int, int]:
    """VmHWM and VmPeak: a process's peaks of resident memory and address space; 0 once it is gone."""
    try:
        status = read_some(f"/proc/{pid}/status")
    except OSError:
        return 0, 0
    return _kilobytes(status, b"\nVmHWM:"), _kilobytes(status, b"\nVmPeak:")


def _kilobytes(status: bytes, key: bytes) -> int:
    """A value of /proc/PID/status, in bytes; 0 if it does not exist."""
    found = status.find(key)
    return int(status[found + len(key) :].split(None, 1)[0]) * 1024 if found >= 0 else 0


def _pss_bytes(pids: list[int]) -> int | None:
    """Memory with shared pages divided among the processes that share them; None if it may not be read."""
    total = 0
    for pid in pids:
        try:
            rollup = read_some(f"/proc/{pid}/smaps_rollup")
        except PermissionError:
            return None
        except OSError:
            continue
        found = rollup.find(b"\nPss:")
        total += int(rollup[found + 5 :].split(None, 1)[0]) * 1024 if found >= 0 else 0
    return total


def _sockets(pids: list[int]) -> int | None:
    """The number of open sockets; one that processes share counts once. None if they may not be read."""
    sockets: set[str] = set()
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        if not os.access(folder, os.R_OK):
            return None
        for name in _list(folder):
            with contextlib.suppress(OSError):
                link = os.readlink(f"{folder}/{name}")  # noqa: PTH115 (thousands of them)
                if link.startswith("socket:"):
                    sockets.add(link)
    return len(sockets)


def read_some(path: str) -> bytes:
    """The first 64 KiB of a file under /proc. Raises OSError."""
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (many times a second)
        return file.read(65536) or b""


def _list(folder: str) -> Iterable[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 (many times a second)
    except OSError:
        return ()
