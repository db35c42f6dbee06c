"""Whether the kernel killed a process for lack of memory: its control group counts these kills."""

from pathlib import Path

from jostle.host.limits import cgroup_folders, cgroup_limits
from jostle.host.procfs import ENDED
from jostle.units import format_bytes

__all__ = ["MemoryWatch", "ended_for_memory"]

CGROUPS = Path("/sys/fs/cgroup")
COUNTERS = ("memory.events", "memory.oom_control")
"""The files of cgroup versions 2 and 1 with a line "oom_kill N". The root group may not have them."""


class MemoryWatch:
    """Follows one process while it is alive, since it may move to another control group after its start."""

    def __init__(self, pid: int, processes: Path = Path("/proc"), mount: Path = CGROUPS) -> None:
        self._process = processes / str(pid)
        self._mount = mount
        self._last = ""
        self._limit: int | None = None
        self._before: dict[Path, int] = {}
        self.look()

    def look(self) -> None:
        """Note the process's control group and the kills counted there so far, unless the process is dead."""
        try:
            membership = self._process.joinpath("cgroup").read_text()
            living = self._process.joinpath("stat").read_text().rpartition(") ")[2][:1] not in ENDED
        except OSError:
            return
        if not living or membership == self._last:  # version 1 reports a zombie as being in the root
            return
        self._last = membership
        self._limit = cgroup_limits(self._process / "cgroup", self._mount).memory_bytes
        self._before = {file: _kills(file) for file in self._counters(membership)}

    def killed(self) -> str:
        """Why the process was killed, if the kernel has killed one in its group since; otherwise ""."""
        if not any(_kills(file) > before for file, before in self._before.items()):
            return ""
        return ended_for_memory(self._limit)

    def _counters(self, membership: str) -> list[Path]:
        folders = [next(iter(chain), None) for chain in cgroup_folders(membership, self._mount)]
        files = [folder / name for folder in folders if folder for name in COUNTERS]
        return [file for file in files if file.is_file()]


def ended_for_memory(limit_bytes: int | None) -> str:
    """Why a process was ended: "by the kernel for memory (limit of 512 MB)"."""
    limit = "the machine has no more" if limit_bytes is None else f"limit of {format_bytes(limit_bytes)}"
    return f"by the kernel for memory ({limit})"


def _kills(counter: Path) -> int:
    try:
        lines = counter.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)
