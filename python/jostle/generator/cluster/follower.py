"""One generator as the driver follows it: what it has given, where that is kept, and how it stands."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from jostle.generator.cluster.clocks import Clock
from jostle.generator.cluster.spool import Unfolding
from jostle.generator.cluster.transport import Asked, Node, Remote

__all__ = ["Stream", "Tally"]


@dataclass
class Tally:
    """Requests and time in some intervals of one generator; times from the start of the trial."""

    intervals: int = 0
    sent: int = 0
    until_ns: int = 0

    def add(self, interval: Any) -> None:
        self.intervals += 1
        self.sent += sum(workload["sent"] for workload in interval["workloads"])
        self.until_ns = interval["end_ns"]


@dataclass
class Stream:
    """`from_ns`: when it took over, 0 for a generator of the first hour; its own times begin there.

    `phases`: which phases of the whole its phases are, by workload; empty where they are the same.
    """

    index: int
    log: str
    remote: Remote
    clock: Clock
    from_ns: int = 0
    phases: list[list[int]] = field(default_factory=list)
    state: Literal["running", "ended", "lost"] = "running"
    ended_whole: bool = False
    """All of its log has come."""
    offset: int = 0
    streamed: Tally = field(default_factory=Tally)
    asked: Asked | None = None
    sent_at: float = field(default_factory=time.monotonic)
    heard_at: float = field(default_factory=time.monotonic)
    copy: Path | None = None
    _unfolding: Unfolding = field(default_factory=Unfolding)

    @property
    def node(self) -> Node:
        return self.remote.node

    def keep(self, folder: Path) -> None:
        """From now on `take` also appends to a file there."""
        moved = f"-from-{self.from_ns / 1e9:g}s" if self.from_ns else ""
        self.copy = folder / f"{self.index + 1}{moved}.frames"
        self.copy.touch(exist_ok=False)

    def take(self, data: bytes) -> list[Any]:
        """The next bytes of its log: the intervals that are whole with them, in times of the whole trial."""
        if self.copy is not None and data:
            with self.copy.open("ab") as file:
                file.write(data)
        self.offset += len(data)
        found = [self.placed(interval) for interval in self._unfolding.add(data)]
        for interval in found:
            self.streamed.add(interval)
        return found

    def placed(self, interval: Any) -> Any:
        """In times and phases of the whole trial."""
        interval["start_ns"] += self.from_ns
        interval["end_ns"] += self.from_ns
        for series in interval["series"]:
            if self.phases and self.phases[series["workload"]]:
                series["phase"] = self.phases[series["workload"]][series["phase"]]
        return interval
