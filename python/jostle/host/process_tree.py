"""Which processes belong to a tree: all below its first one, including those whose parent has died."""

import contextlib
from pathlib import Path

from jostle.host import supervisor
from jostle.host.procfs import Stat, all_pids, read_stat

__all__ = ["ProcessTree"]


class ProcessTree:
    """The members of one tree, which are looked up anew each time.

    Once a member, always a member: a child whose parent has died gets another parent, but still belongs to
    the tree. A member is identified by its start time. /proc is listed each time; only new processes and
    members are read.
    """

    def __init__(self, root: int) -> None:
        stat = read_stat(root)
        self._births: dict[int, int] = {} if stat is None else {root: stat.started}
        self._strangers: set[int] = set()
        self._session = stat.session if stat is not None and stat.session == root else None
        self._adopter = stat.parent if stat is not None and _is_supervisor(stat.parent) else None

    def adopter(self) -> Stat | None:
        """The supervisor, which adopts orphans of the tree."""
        return read_stat(self._adopter) if self._adopter is not None else None

    def members(self) -> dict[int, Stat]:
        """The current members, zombies included."""
        present = set(all_pids())
        self._strangers &= present
        stats = {}
        for pid in sorted(self._births.keys() & present, key=lambda pid: (self._births[pid], pid)):
            stat = read_stat(pid)
            if stat is not None and stat.started == self._births[pid]:
                stats[pid] = stat
        newcomers = {}
        for pid in present - self._births.keys() - self._strangers:
            if (stat := read_stat(pid)) is not None:
                newcomers[pid] = stat
        stats |= self._join(newcomers, set(stats))
        # A process whose parent was not listed yet is checked again next time.
        self._strangers |= {p for p, stat in newcomers.items() if stat.parent in present} - stats.keys()
        self._births = {pid: stat.started for pid, stat in stats.items()}
        return stats

    def _join(self, newcomers: dict[int, Stat], parents: set[int]) -> dict[int, Stat]:
        """The newcomers that belong to the tree, by parent or by session."""
        if self._adopter is not None:
            parents = parents | {self._adopter}
        joined: dict[int, Stat] = {}
        while True:
            more = {
                pid: stat
                for pid, stat in newcomers.items()
                if pid not in joined
                and (stat.parent in parents or stat.parent in joined or stat.session == self._session)
            }
            if not more:
                return joined
            joined |= more


def _is_supervisor(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return supervisor.__file__.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return False
