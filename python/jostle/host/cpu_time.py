"""CPU time of a whole process tree, including its ended processes."""

from dataclasses import dataclass

from jostle.host.procfs import Stat

__all__ = ["Ticks", "TreeCpu"]


@dataclass(frozen=True)
class Ticks:
    """CPU time in clock ticks, in [0, ∞)."""

    user: int = 0
    system: int = 0

    def __add__(self, other: "Ticks") -> "Ticks":
        return Ticks(self.user + other.user, self.system + other.system)

    def minus(self, other: "Ticks") -> "Ticks":
        """The difference, at least 0."""
        return Ticks(max(0, self.user - other.user), max(0, self.system - other.system))


class TreeCpu:
    """The tree's CPU time, including that of ended processes.

    When a process ends, its time is added to `children_*` of the process that waits for it. Until we next
    read that parent, or for ever if nobody waits for it (SIGCHLD ignored), its time is recorded nowhere. It
    is kept here as owed, and paid off as the children's times of the remaining processes grow.
    """

    def __init__(self) -> None:
        self._seen: dict[
            int, tuple[Ticks, Ticks]
        ] = {}  # by pid: all of its time, and that of its ended children alone
        self._owed = Ticks()
        self._most = Ticks()

    def add_up(self, stats: dict[int, Stat], adopter: Stat | None) -> Ticks:
        """User and system ticks since the tree began. Never falls."""
        now: dict[int, tuple[Ticks, Ticks]] = {}
        for stat in stats.values():
            children = Ticks(stat.children_user, stat.children_system)
            now[stat.pid] = (Ticks(stat.user, stat.system) + children, children)
        if adopter is not None:  # the supervisor's own time is not the server's
            children = Ticks(adopter.children_user, adopter.children_system)
            now[adopter.pid] = (children, children)
        for pid, (whole, _) in self._seen.items():
            if pid not in now:
                self._owed += whole
        for pid, (_, children) in now.items():
            if pid in self._seen:
                self._owed = self._owed.minus(children.minus(self._seen[pid][1]))
        self._seen = now
        total = sum((whole for whole, _ in now.values()), self._owed)
        self._most = Ticks(max(self._most.user, total.user), max(self._most.system, total.system))
        return self._most
