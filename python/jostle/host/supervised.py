"""A process tree under a keeper, seen from jostle: started, watched, ended whole."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jostle.host import supervisor
from jostle.host.procfs import descendants, with_environment

__all__ = ["Exit", "Kept", "Task", "last_lines"]

GRACE_S = 2.0
PATIENCE_S = GRACE_S + supervisor.KILL_FOR_S + 5.0
"""A keeper that has not ended its tree by then is itself ended."""


@dataclass(frozen=True)
class Task:
    """What a keeper is told.

    `scratch`: a folder that is removed at the end. `hold`: descriptors that stay open until nothing is left.
    """

    command: Sequence[str]
    folder: str
    env: Mapping[str, str]
    output: str
    uid: int | None = None
    gid: int | None = None
    cores: Sequence[int] = ()
    scratch: str | None = None
    hold: Sequence[int] = ()
    grace_s: float = GRACE_S


@dataclass(frozen=True)
class Exit:
    """How the first process ended, and how many others it left running."""

    code: int | None
    signal: str | None
    others: int

    def __str__(self) -> str:
        return f"was ended by {self.signal}" if self.signal else f"ended with exit code {self.code}"


@dataclass
class Kept:
    """A running task. `pid` is its first process; `failed` says why there is none."""

    task: Task
    pid: int | None = None
    failed: str | None = None
    exit: Exit | None = None
    ended: bool = False
    _tail: str = ""
    _unread: bytearray = field(default_factory=bytearray)

    def __post_init__(self) -> None:
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=tuple(self.task.hold),
            cwd="/",
            bufsize=0,
        )
        with contextlib.suppress(BrokenPipeError):
            self._write(json.dumps(asdict(self.task)).encode() + b"\n")
        while self.pid is None and not self.ended:
            self.poll(None)

    def poll(self, timeout_s: float | None = 0.0) -> None:
        """Take note of what the keeper has said; wait for it that long (None: until it says something)."""
        if self.ended:
            return
        assert self._keeper.stdout is not None
        spoken = select.poll()  # select.select cannot take descriptors over 1,023, which many clients bring
        spoken.register(self._keeper.stdout, select.POLLIN)
        while not self.ended and spoken.poll(None if timeout_s is None else timeout_s * 1000):
            timeout_s = 0.0
            data = os.read(self._keeper.stdout.fileno(), 65536)
            if not data:
                self._keeper_is_gone()
            self._unread += data
            while (end := self._unread.find(b"\n")) >= 0:
                said = json.loads(self._unread[:end])
                del self._unread[: end + 1]
                self._note(said)

    def wait(self) -> None:
        """Until the task has ended by itself and nothing of it is left."""
        while not self.ended:
            self.poll(None)

    def stop(self) -> None:
        """End the whole tree. Returns when nothing of it is left."""
        if not self.ended:
            with contextlib.suppress(OSError):
                self._write(b"stop\n")
            deadline = time.monotonic() + PATIENCE_S
            while not self.ended and (left := deadline - time.monotonic()) > 0:
                self.poll(left)
            if not self.ended:
                self._keeper.kill()
                self._keeper_is_gone()
        self._close()

    def tree(self) -> list[int]:
        """All its living processes."""
        return [] if self.ended else descendants(self._keeper.pid)

    def output(self) -> str:
        """The end of what it has printed so far."""
        if self.ended:
            return self._tail
        return _end_of(Path(self.task.output))

    def _write(self, data: bytes) -> None:
        assert self._keeper.stdin is not None
        self._keeper.stdin.write(data)

    def _note(self, said: dict[str, Any]) -> None:
        match said.pop("event"):
            case "started":
                self.pid = said["pid"]
            case "failed":
                self.failed = said["why"]
            case "exited":
                self.exit = Exit(**said)
            case "ended":
                self._tail = said["tail"]
                self.ended = True
                self._keeper.wait()
                self._close()

    def _keeper_is_gone(self) -> None:
        """It ended without a word: somebody killed it. What it kept is ended as well as can be from here."""
        assert self._keeper.stderr is not None
        self._keeper.wait()
        complaint = self._keeper.stderr.read().decode(errors="replace")
        if self.task.scratch is not None:
            for pid in with_environment(f"{self.task.scratch}/tmp"):  # its TMPDIR
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.task.scratch, ignore_errors=True)
        self._tail = _end_of(Path(self.task.output)) + complaint
        self.exit = self.exit or Exit(None, "the death of its keeper", 0)
        self.failed = self.failed or complaint or "its keeper was killed"
        self.ended = True

    def _close(self) -> None:
        for pipe in (self._keeper.stdin, self._keeper.stdout, self._keeper.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _end_of(path: Path) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - supervisor.REPORTED_TAIL_BYTES))
        return file.read().decode(errors="replace")
    return ""


def last_lines(text: str, lines: int = 20, width: int = 400) -> str:
    """The last lines of what was printed, each cut to `width` characters, without control characters."""
    clean = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
    kept = [line[:width] + ("…" if len(line) > width else "") for line in clean.rstrip().split("\n")]
    return "\n".join(kept[-lines:])
