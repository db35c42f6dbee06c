"""Load from several processes on this machine: started, synchronised, merged and stopped as one.

Each is a `jostle.generator.worker` with an equal share. It ends when this process ends, for whatever reason.
"""

import contextlib
import json
import math
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from jostle.errors import GeneratorsLost, StartRefused
from jostle.generator.api import Generator, Lost, Running, Steered
from jostle.generator.busy_poll import with_busy_poll
from jostle.generator.files_and_ports import generator_processes, with_sources
from jostle.generator.inprocess import InProcessExecutor
from jostle.generator.merge import Merger
from jostle.generator.partition import partition
from jostle.generator.steered import merged
from jostle.generator.wire import read_frame
from jostle.host.exhaustion import within_limits
from jostle.host.out_of_memory import MemoryWatch
from jostle.host.supervised import Exit
from jostle.plan.change import Change

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["LocalExecutor"]

READY_S = 60.0
"""How long a generator process may take to get ready, or to start its load."""

LEAD_S, LEAD_EACH_S = 0.2, 0.05
"""From the start command until t = 0, in total and per process: each prepares the load in the meantime."""

SILENT_S = 6.0
"""How long beyond an interval's length a process may be silent before it is taken for dead and killed."""

STEER_LEAD_S = 0.2
"""From the command until a change: each process must know of it by then."""

STEER_S = 5.0
"""How long a process may take to acknowledge a change."""

GeneratorMessage = tuple[int, dict[str, Any] | None]
"""The index of a generator, and a frame from it; None if it has ended."""

Inbox = queue.SimpleQueue[GeneratorMessage]
"""The frames of all generators in their order of arrival."""


class LocalExecutor:
    """Runs the plan in `processes` generator processes; None: in as many as its connections need.

    A single generator runs in threads of this process, not in a process of its own.
    """

    here = "127.0.0.1"

    def __init__(self, processes: int | None = None) -> None:
        self._processes = processes

    def prepare(self, spec: Mapping[str, Any]) -> dict[str, Any]:
        count = generator_processes(spec, self._processes)
        return with_busy_poll(with_sources(spec), count)

    def start(self, spec: Mapping[str, Any]) -> Running:
        count = generator_processes(spec, self._processes)
        return InProcessExecutor().start(spec) if count == 1 else _start(spec, count)


def _start(spec: Mapping[str, Any], count: int) -> Running:
    inbox: Inbox = queue.SimpleQueue()
    with contextlib.ExitStack() as undo:
        children: list[_Child] = []
        for index, share in enumerate(partition(spec, count)):
            with within_limits():
                children.append(_Child(index, count, inbox))
            undo.callback(children[-1].kill)
            children[-1].say(share)
        _responses(children, inbox, "ready")
        lead_s = LEAD_S + LEAD_EACH_S * count
        start_unix_ns = time.time_ns() + round(lead_s * 1e9)
        begins = time.monotonic() + lead_s
        for child in children:
            child.say({"start_unix_ns": start_unix_ns})
        early: list[GeneratorMessage] = []
        started = _responses(children, inbox, "started_unix_ns", early)
        undo.pop_all()
    return _GeneratorGroup(children, inbox, started, early, spec, begins)


def _responses(
    children: Sequence["_Child"], inbox: Inbox, key: str, early: list[GeneratorMessage] | None = None
) -> list[Any]:
    """The value of `key` in the first frame of each child. Raises `StartRefused`.

    Further frames that come while others are still late go into `early`; if it is None, there are none, and
    a child that ends is a failure.
    """
    responses: dict[int, Any] = {}
    give_up = time.monotonic() + READY_S
    while len(responses) < len(children):
        try:
            index, frame = inbox.get(timeout=max(0.0, give_up - time.monotonic()))
        except queue.Empty:
            silent = [child.name for child in children if child.index not in responses]
            raise StartRefused(
                f"{', '.join(silent)} did not come up within {READY_S:g} s", "is this machine overloaded?"
            ) from None
        if early is not None and index in responses:
            early.append((index, frame))
            continue
        if frame is None:
            raise StartRefused(f"{children[index].name} {children[index].end()} before the load began")
        if "refused" in frame:
            raise StartRefused(frame["refused"])
        responses[index] = frame[key]
    return [responses[child.index] for child in children]


class _Child:
    """One generator process. Its frames go into the inbox."""

    def __init__(self, index: int, of: int, inbox: Inbox) -> None:
        self.index = index
        self.name = f"generator {index + 1} of {of}"
        self.changes = queue.SimpleQueue[tuple[int, dict[str, Any]]]()
        """What became of each change that it was told."""
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "jostle.generator.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            start_new_session=True,  # Ctrl-C should reach only this process, which tells the others
        )
        assert self.process.stdout is not None
        listener = threading.Thread(
            target=_listen, args=(self, self.process.stdout, inbox), name=self.name, daemon=True
        )
        try:
            listener.start()
        except RuntimeError:
            self.kill()
            raise
        self._memory = MemoryWatch(self.process.pid)

    def say(self, what: Any) -> None:
        """Send a line. If the process has died, nothing happens here: its end is noticed elsewhere."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(what).encode() + b"\n")
            self.process.stdin.flush()

    def end(self) -> str:
        """Wait for its end. Returns how it ended."""
        code = self.process.wait()
        how = str(Exit.of_code(code, self._memory.killed() if code == -signal.SIGKILL else ""))
        self._complaints.seek(0)
        last = self._complaints.read().decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"{how}: {last[0]}" if last else how

    def reply_to(self, change: int, give_up: float) -> dict[str, Any]:
        """What became of this change, or why that is not known at `give_up` (monotonic, s)."""
        while self.process.poll() is None:
            try:
                number, reply = self.changes.get(timeout=max(0.0, give_up - time.monotonic()))
            except queue.Empty:
                return {"refused": f"it did not acknowledge the change within {STEER_S:g} s"}
            if number == change:
                return reply
        return {"refused": "it has ended"}

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def _listen(child: _Child, file: IO[bytes], inbox: Inbox) -> None:
    """Hand on what a generator sends, and None at its end: also of what is no frame, after which nothing is.

    The pipe is then closed, so that the generator ends as well.
    """
    with file, contextlib.suppress(ValueError):
        while (frame := read_frame(file)) is not None:
            if "change" in frame:
                child.changes.put((frame["change"], frame["reply"]))
            else:
                inbox.put((child.index, frame))
    inbox.put((child.index, None))


class _GeneratorGroup:
    """All generators of a run as one. Those that die are listed in `lost`, and the others continue."""

    def __init__(
        self,
        children: list[_Child],
        inbox: Inbox,
        started: list[int],
        early: Sequence[GeneratorMessage],
        spec: Mapping[str, Any],
        begins: float,
    ) -> None:
        """`begins`: when the load begins (monotonic, s); silence counts from then on."""
        count = len(children)
        self.generators = [
            Generator(child.index + 1, count, child.process.pid, at)
            for child, at in zip(children, started, strict=True)
        ]
        self.started_unix_ns = min(started)
        self.lost: list[Lost] = []
        self._children = children
        self._inbox = inbox
        self._early = deque(early)
        self._merging = Merger(count, math.ceil(spec["threads"] / count), len(spec["workloads"]))
        self._finished: set[int] = set()
        self._silent: set[int] = set()
        self._patience_s = SILENT_S + spec["interval_ns"] / 1e9
        self._begins = begins
        self._heard = [max(begins, time.monotonic())] * count
        self._steering = threading.Lock()
        self._changes = 0

    def next_interval(self, timeout_s: float) -> "Interval | None":
        give_up = time.monotonic() + timeout_s
        while (interval := self._merging.next()) is None:
            try:
                wait_s = max(0.0, give_up - time.monotonic())
                index, frame = self._early.popleft() if self._early else self._inbox.get(timeout=wait_s)
            except queue.Empty:
                self._kill_the_silent()
                return None
            if frame is not None:
                self._heard[index] = time.monotonic()
                self._merging.add(index, frame["interval"])
                if frame["interval"]["last"]:
                    self._finished.add(index)
            elif index not in self._finished:
                self._drop(self._children[index])
        if interval["last"]:
            for child in self._children:
                child.process.wait()
        return interval

    def _kill_the_silent(self) -> None:
        """Kill silent generators, so that the rest need not wait; their end is noticed like any other."""
        now = time.monotonic()
        for child in self._children:
            if child.index not in self._finished and now - self._heard[child.index] > self._patience_s:
                self._silent.add(child.index)
                child.kill()

    def _drop(self, child: _Child) -> None:
        how = f"gave nothing for {self._patience_s:g} s" if child.index in self._silent else child.end()
        why = f"{child.name} {how}"
        self.lost.append(Lost(child.index + 1, len(self._children), self._merging.drop(child.index), why))
        if len(self.lost) == len(self._children):
            raise GeneratorsLost(
                "all generators have died: " + "; ".join(lost.why for lost in self.lost),
                "look for a lack of memory (dmesg), and send less",
            )

    def steer(self, workload: int, change: Change, at_ns: int | None = None) -> Steered:
        if at_ns is None:
            at_ns = max(0, round((time.monotonic() - self._begins + STEER_LEAD_S) * 1e9))
        with self._steering:
            self._changes += 1
            words = {"workload": workload, "kind": change.kind, "value": change.value, "at_ns": at_ns}
            for child in self._children:
                child.say({"change": self._changes, "steer": words})
            give_up = time.monotonic() + STEER_S
            replies = {child.name: child.reply_to(self._changes, give_up) for child in self._children}
        return merged(replies)

    def stop(self) -> None:
        for child in self._children:
            child.say("stop")

    def save_logs_to(self, folder: Path) -> None:
        """Nothing to do: a pipe outlives its writer, so what a process has written is never lost."""

    def pull(self) -> None:
        """Nothing to do: all intervals have been returned."""
