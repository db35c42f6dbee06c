"""What happened on this machine during a trial: stolen CPU time, other processes, waiting for a processor.

Read from /proc four times a second. What cannot be read is None, or absent.
"""

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jostle.host.backlog import backlog_drops
from jostle.host.cpu_time import TreeCpu
from jostle.host.pressure import pressure_s
from jostle.host.process_tree import ProcessTree
from jostle.host.resource_usage import TICK_S, read_some, thread_switches
from jostle.host.throttled import quotas, throttled_s

__all__ = ["MachineSample", "MachineSampler"]

WORKER = "jostle-"
"""How the names of the engine's threads begin; a number follows."""


@dataclass(frozen=True)
class MachineSample:
    """A line of machine.ndjson. All but `t_ns` and `mhz` are sums since some earlier moment (times in s).

    Pressure is the time in which some task waited for that resource (the kernel's PSI).
    """

    t_ns: int
    busy_s: float
    """CPU time that any process used on the cores of the run."""
    server_cores_busy_s: float
    """CPU time that any process used on the server's cores."""
    steal_s: float
    """CPU time on the cores of the run that the hypervisor gave to another machine."""
    own_cpu_s: float
    """CPU time of jostle and everything it started."""
    pressure_cpu_s: float | None
    pressure_memory_s: float | None
    pressure_io_s: float | None
    waited_s: float | None
    """How long the generator's threads on this machine were runnable without a processor."""
    involuntary: int | None
    """How often those threads lost their processor."""
    throttled_s: float | None
    """CPU time that a quota of this container or cgroup withheld, over all cores."""
    backlog_drops: int | None
    """Connection attempts that the sockets which listen on the server's port dropped."""
    mhz: float | None
    """The mean frequency of the cores."""


class MachineSampler:
    """Samples the machine. `cores`: those of the run; `server_cores`: those of them on which the server is.
    `generators`: pids of generators on this machine. `port`: where the server listens, if it is here.
    """

    def __init__(
        self, cores: Iterable[int], server_cores: Iterable[int], generators: Sequence[int], port: int
    ) -> None:
        self._port = port
        self._cores = {f"cpu{core}".encode() for core in cores}
        self._server_cores = {f"cpu{core}".encode() for core in server_cores}
        self._generators = generators
        self._quotas = quotas()
        self._tree, self._cpu = ProcessTree(os.getpid()), TreeCpu()

    def sample(self, t_ns: int) -> MachineSample:
        busy, steal, of_server_cores = self._ticks()
        own = self._cpu.add_up(self._tree.members(), None)
        waits = [wait for pid in self._generators for wait in _worker_waits(pid)]
        return MachineSample(
            t_ns=t_ns,
            busy_s=round(busy * TICK_S, 3),
            server_cores_busy_s=round(of_server_cores * TICK_S, 3),
            steal_s=round(steal * TICK_S, 3),
            own_cpu_s=round((own.user + own.system) * TICK_S, 3),
            pressure_cpu_s=pressure_s("cpu"),
            pressure_memory_s=pressure_s("memory"),
            pressure_io_s=pressure_s("io"),
            waited_s=round(sum(wait[0] for wait in waits), 6) if waits else None,
            involuntary=sum(wait[1] for wait in waits) if waits else None,
            throttled_s=throttled_s(self._quotas),
            backlog_drops=backlog_drops(self._port),
            mhz=_mhz(),
        )

    def _ticks(self) -> tuple[int, int, int]:
        """(busy, stolen) ticks of the cores of the run, and busy ones of the server's. Interrupts belong to
        no process and are left out.

        Source: proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal.
        """
        busy = steal = of_server_cores = 0
        for line in read_some("/proc/stat").splitlines():
            name, *ticks = line.split()
            if name in self._cores:
                used = sum(map(int, ticks[:3]))
                busy += used
                of_server_cores += used if name in self._server_cores else 0
                steal += int(ticks[7]) if len(ticks) > 7 else 0
        return busy, steal, of_server_cores


def _worker_waits(pid: int) -> Iterable[tuple[float, int]]:
    """For each worker thread: seconds runnable without a processor, and involuntary switches."""
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 (four times a second)
            with contextlib.suppress(OSError):
                name = read_some(f"/proc/{pid}/task/{thread}/comm").decode().strip()
                if not name.removeprefix(WORKER).isdigit() or not name.startswith(WORKER):
                    continue
                if (switches := thread_switches(pid, thread)) is not None:
                    yield switches[2] / 1e9, switches[1]


def _mhz() -> float | None:
    """The mean frequency; None if the kernel does not tell, as in most virtual machines."""
    found = []
    for path in Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_cur_freq"):
        with contextlib.suppress(OSError, ValueError):
            found.append(int(path.read_text()) / 1000)
    return round(sum(found) / len(found), 1) if found else None
