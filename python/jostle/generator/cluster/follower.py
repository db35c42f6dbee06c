"""One generator as the driver follows it: what it has streamed, where the copy is, and its state."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jostle.generator.cluster.clocks import Clock
from jostle.generator.cluster.spool import FrameReader
from jostle.generator.cluster.transport import Call, Node, Remote
from jostle.record.layout import ClockEntry, LedgerEntry, TallyEntry

if TYPE_CHECKING:
    from jostle._engine import Rows

__all__ = ["Follower", "IntervalTally"]


@dataclass
class IntervalTally:
    """The requests and the time of some intervals of one generator. Times count from the trial's start."""

    intervals: int = 0
    sent: int = 0
    until_ns: int = 0

    def add(self, interval: Any) -> None:
        self.intervals += 1
        self.sent += sum(workload["sent"] for workload in interval["workloads"])
        self.until_ns = interval["end_ns"]

    def as_entry(self) -> TallyEntry:
        return {"intervals": self.intervals, "sent": self.sent, "until_ns": self.until_ns}


@dataclass
class Follower:
    """One generator, as the driver follows it."""

    index: int
    log: str
    remote: Remote
    clock: Clock
    from_ns: int = 0
    """When it took over, 0 for an original generator; its own times count from there."""
    phases: list[list[int]] = field(default_factory=list)
    """By workload, the number in the whole plan of each of its phases; empty if they are the same."""
    state: Literal["running", "ended", "lost"] = "running"
    ended_whole: bool = False
    """Whether all of its spool has been received."""
    offset: int = 0
    streamed: IntervalTally = field(default_factory=IntervalTally)
    call: Call | None = None
    """The poll that has not been answered yet."""
    called_at: float = field(default_factory=time.monotonic)
    answered_at: float = field(default_factory=time.monotonic)
    copy: Path | None = None
    _frames: FrameReader = field(default_factory=FrameReader)

    @property
    def node(self) -> Node:
        return self.remote.node

    def save_logs_to(self, folder: Path) -> None:
        """From now on, `take` also appends to a file in `folder`."""
        moved = f"-from-{self.from_ns / 1e9:g}s" if self.from_ns else ""
        self.copy = folder / f"{self.index + 1}{moved}.frames"
        self.copy.touch(exist_ok=False)

    def take(self, data: bytes) -> list[Any]:
        """Take in the next bytes of its spool. Returns the intervals they complete, in the trial's times."""
        if self.copy is not None and data:
            with self.copy.open("ab") as file:
                file.write(data)
        self.offset += len(data)
        found = [self.placed(interval) for interval in self._frames.add(data)]
        for interval in found:
            self.streamed.add(interval)
        return found

    def placed(self, interval: Any) -> Any:
        """Convert an interval to the times and phases of the whole trial."""
        interval["start_ns"] += self.from_ns
        interval["end_ns"] += self.from_ns
        if self.from_ns and interval["rows"] is not None:
            interval["rows"] = _later(interval["rows"], self.from_ns)
        for line in interval.get("head_of_line", ()):
            line["from_ns"] += self.from_ns
            line["until_ns"] += self.from_ns
            for stream in line["streams"]:
                for name in ("ready_ns", "sent_ns", "head_ns", "end_ns"):
                    stream[name] += self.from_ns if stream[name] else 0  # 0: it has not happened
        for series in interval["series"]:
            if self.phases and self.phases[series["workload"]]:
                series["phase"] = self.phases[series["workload"]][series["phase"]]
        return interval

    def account(self, clock_after: ClockEntry | None) -> LedgerEntry:
        """Its entry in the ledger. What is only in a lost generator's spool is unknown until collected."""
        assert self.copy is not None
        nothing: TallyEntry = {"intervals": 0, "sent": 0, "until_ns": self.streamed.until_ns}
        return {
            "generator": self.index + 1,
            "host": self.node.address,
            "log": self.log,
            "from_ns": self.from_ns,
            "copy": self.copy.name,
            "streamed": self.streamed.as_entry(),
            "only_in_log": nothing if self.ended_whole else None,
            "whole": self.ended_whole,
            "why": "" if self.ended_whole else "its spool has not been fetched",
            "clock_after": clock_after,
        }


def _later(rows: "Rows", by_ns: int) -> "Rows":
    """The rows with all times `by_ns` later; 0 is no time, except that a request is always intended."""
    import numpy as np

    moved: Any = dict(rows)
    for name in ("intended_ns", "sent_ns", "headers_ns", "end_ns"):
        times = np.frombuffer(moved[name], "<u8").copy()
        times[(times > 0) | (name == "intended_ns")] += by_ns
        moved[name] = times.tobytes()
    later: Rows = moved
    return later
