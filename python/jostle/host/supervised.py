"""A process tree that is started under a supervisor, watched, and ended as a whole.

Servers, builds, the private database and its delay proxy all run this way. The supervisor is a process of its
own (`jostle.host.supervisor`), so that nothing keeps running when jostle is killed.
"""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jostle.errors import StartFailed
from jostle.host import supervisor
from jostle.host.cache import cache_folder
from jostle.host.exhaustion import used_up, within_limits
from jostle.host.memory_group import MemoryGroup
from jostle.host.out_of_memory import MemoryWatch, ended_for_memory
from jostle.host.procfs import descendants, is_running, with_environment
from jostle.host.users import User
from jostle.text import one_line, quoted
from jostle.units import format_duration

__all__ = ["Exit", "NotReady", "Scratch", "SupervisedProcess", "Task", "start_until_ready"]

GRACE_S = 2.0
"""The time from SIGTERM to SIGKILL."""

PATIENCE_S = supervisor.KILL_FOR_S + 5.0
"""How long beyond the grace time a supervisor may take to end its tree before it is killed itself."""

FIRST_PAUSE_S, LAST_PAUSE_S = 0.005, 0.05
"""The pause between two checks whether a process is ready; it grows from the first to the second value."""

OUTPUT_LINES, LINE_CHARACTERS = 20, 400
"""How much of a process's output is shown in a message."""

T = TypeVar("T")


@dataclass(frozen=True)
class Scratch:
    """A folder for one start of a process, which all may enter; `tmp` in it belongs to the process's user.

    The supervisor removes it.
    """

    folder: Path

    @classmethod
    def create(cls, name: str, user: User, base: Path | None = None) -> "Scratch":
        """Create a folder in `base`, or in the cache."""
        safe = "".join(c if c.isalnum() else "-" for c in name)
        folder = Path(tempfile.mkdtemp(prefix=f"{safe}-", dir=base or cache_folder("running", writing=True)))
        folder.chmod(0o755)
        scratch = cls(folder)
        scratch.tmp.mkdir(mode=0o700)
        user.take(scratch.tmp)
        return scratch

    @property
    def tmp(self) -> Path:
        """The TMPDIR of the process, by which all its descendants can be recognised, wherever they are."""
        return self.folder / "tmp"

    @property
    def output(self) -> Path:
        """Where the beginning and the end of what it prints are kept."""
        return self.folder / "output"


@dataclass(frozen=True)
class Task:
    """What is run, where, and as whom."""

    command: Sequence[str]
    folder: Path
    env: Mapping[str, str]
    output: Path
    """The file for what it prints."""
    user: User | None = None
    """None for the user who runs jostle."""
    cores: Sequence[int] = ()
    scratch: Scratch | None = None
    hold: Sequence[int] = ()
    """Descriptors that stay open until nothing of it is left."""
    grace_s: float = GRACE_S
    memory: MemoryGroup | None = None
    """The control group in which it runs; the supervisor removes it."""

    def as_json(self) -> str:
        """The task for the supervisor. Only root can start a process as another user."""
        user = self.user if os.geteuid() == 0 else None
        task = {
            "command": list(self.command),
            "folder": str(self.folder),
            "env": dict(self.env),
            "output": str(self.output),
            "uid": user.uid if user else None,
            "gid": user.gid if user else None,
            "cores": list(self.cores),
            "scratch": str(self.scratch.folder) if self.scratch else None,
            "hold": list(self.hold),
            "grace_s": self.grace_s,
            "group": str(self.memory.folder) if self.memory and self.memory.folder else None,
        }
        return json.dumps(task)


@dataclass(frozen=True)
class Exit:
    """How the first process ended, and how many others it left running.

    `for_memory`: if the kernel killed it for memory, the reason as from `MemoryWatch.killed`.
    """

    code: int | None
    signal: str | None
    others: int = 0
    for_memory: str = ""

    @classmethod
    def of_code(cls, code: int, for_memory: str = "") -> "Exit":
        """The exit of a process started by `subprocess`: negative codes are signals."""
        if code >= 0:
            return cls(code, None)
        return cls(None, supervisor.signal_name(-code), for_memory=for_memory)

    def __str__(self) -> str:
        if self.for_memory:
            return f"was ended {self.for_memory}"
        return f"was ended by {self.signal}" if self.signal else f"ended with exit code {self.code}"


class NotReady(Exception):
    """Raised by a check whether a process is ready: it is not, and the message says what was seen.

    `hint`: what to do about it, if more is known than that time ran out.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class SupervisedProcess:
    """A running task.

    `pid`: its first process; None if it could not be started, in which case `start_error` says why. `exit`:
    how the first process ended, if it did so by itself. `ended`: nothing of the tree is left. `killed`:
    SIGTERM did not end it within the grace time.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.pid: int | None = None
        self.start_error = ""
        self.exit: Exit | None = None
        self.ended = False
        self.killed = False
        self._tail = ""
        self._unread = bytearray()
        self._memory: MemoryWatch | None = None
        with within_limits():
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", supervisor.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=tuple(task.hold),
                cwd="/",
                bufsize=0,
            )
        with contextlib.suppress(BrokenPipeError):
            self._write(task.as_json().encode() + b"\n")
        while self.pid is None and not self.ended:
            self.poll(None)

    def poll(self, timeout_s: float | None = 0.0) -> None:
        """Read the supervisor's events, waiting up to `timeout_s` for one (None: until there is one)."""
        if self.ended:
            return
        if self._memory is not None:
            self._memory.look()
        assert self._supervisor.stdout is not None
        events = select.poll()  # select.select cannot take descriptors over 1,023, and many clients need them
        events.register(self._supervisor.stdout, select.POLLIN)
        while not self.ended and events.poll(None if timeout_s is None else timeout_s * 1000):
            timeout_s = 0.0
            data = os.read(self._supervisor.stdout.fileno(), 65536)
            if not data:
                self._supervisor_died()
            self._unread += data
            while (end := self._unread.find(b"\n")) >= 0:
                event = json.loads(self._unread[:end])
                del self._unread[: end + 1]
                self._apply(event)

    def alive(self) -> bool:
        """Whether the first process is running."""
        self.poll()
        return self.pid is not None and self.exit is None and not self.ended

    def wait(self) -> None:
        """Wait until the task has ended by itself and nothing of it is left."""
        while not self.ended:
            self.poll(None)

    def wait_until_ready(
        self,
        name: str,
        attempt: Callable[["SupervisedProcess", float], T],
        *,
        timeout_s: float,
        hint: str = "",
    ) -> T:
        """Call `attempt` with the seconds left until it no longer raises `NotReady`, and return its result.

        Raises `StartFailed` if the first process ends before that or, with `hint`, if time runs out.
        """
        deadline = time.monotonic() + timeout_s
        pause_s, attempts = FIRST_PAUSE_S, 0
        while True:
            left_s, not_ready = deadline - time.monotonic(), ""
            attempts += 1
            try:
                response = attempt(self, left_s)
            except NotReady as state:
                not_ready, hint = str(state), state.hint or hint
            self.poll(pause_s if not_ready else 0.0)
            if self.exit is None and self.pid is not None and not is_running(self.pid):
                self.wait()  # the supervisor is about to report it
            if self.exit is not None:
                raise StartFailed(
                    self._died_before_ready(name), "" if self.output() else "start it by hand to see more"
                )
            if not not_ready:
                return response
            if left_s <= 0:
                raise StartFailed(
                    f"{name} was not ready within {format_duration(timeout_s)}: {attempts} attempts, "
                    f"the last one: {not_ready}; {self.printed()}",
                    hint,
                )
            pause_s = min(LAST_PAUSE_S, pause_s * 1.5)

    def stop(self) -> None:
        """End the whole tree. Returns when nothing of it is left. May be called again."""
        if not self.ended:
            with contextlib.suppress(OSError):
                self._write(b"stop\n")
            deadline = time.monotonic() + self.task.grace_s + PATIENCE_S
            while not self.ended and (left_s := deadline - time.monotonic()) > 0:
                self.poll(left_s)
            if not self.ended:
                self._supervisor.kill()
                self._supervisor_died()
        self._close()

    def tree(self) -> list[int]:
        """The pids of all its living processes."""
        return [] if self.ended else descendants(self._supervisor.pid)

    def output(self) -> str:
        """The end of what it has printed so far."""
        return self._tail if self.ended else _end_of(self.task.output)

    def last_lines(self, lines: int = OUTPUT_LINES) -> str:
        """The last lines that it printed, shortened, without control characters."""
        return last_lines(self.output(), lines)

    def printed(self, lines: int = OUTPUT_LINES) -> str:
        """The end of a message: the last output, or that there is none."""
        found = self.last_lines(lines)
        return f"its last output:\n{quoted(found)}" if found else "it printed nothing"

    def _died_before_ready(self, name: str) -> str:
        assert self.exit is not None
        others = ""
        if self.exit.others:
            others = f" and left {self.exit.others} processes running: it must stay in the foreground"
        self.wait()  # its output is complete only when nothing of it is left
        return f"{name} {self.exit} before it was ready{others}; {self.printed()}"

    def _write(self, data: bytes) -> None:
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.write(data)

    def _apply(self, event: dict[str, Any]) -> None:
        match event.pop("event"):
            case "started":
                self.pid = event["pid"]
                self._memory = MemoryWatch(event["pid"])
            case "failed":
                self.start_error = used_up(event.get("errno")) or event["reason"]
            case "exited":
                killed = event["signal"] == signal.SIGKILL.name
                in_own_group = event.pop("out_of_memory")
                why = self._why_killed(in_own_group=in_own_group) if killed else ""
                self.exit = Exit(**event, for_memory=why)
            case "ended":
                self._tail, self.killed = event["tail"], event["killed"]
                self.ended = True
                self._supervisor.wait()
                self._close()

    def _why_killed(self, *, in_own_group: bool) -> str:
        """Why it was killed. Its own group may be gone by now, but the supervisor has read its counter."""
        if in_own_group and self.task.memory is not None:
            return ended_for_memory(self.task.memory.limit_bytes)
        return self._memory.killed() if self._memory is not None else ""

    def _supervisor_died(self) -> None:
        """The supervisor was killed: end what it supervised as well as possible from here."""
        assert self._supervisor.stderr is not None
        self._supervisor.wait()
        complaint = self._supervisor.stderr.read().decode(errors="replace")
        if self.task.scratch is not None:
            for pid in with_environment(str(self.task.scratch.tmp)):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.task.scratch.folder, ignore_errors=True)
        if self.task.memory is not None and self.task.memory.folder is not None:
            supervisor.remove_group(str(self.task.memory.folder))
        self._tail = _end_of(self.task.output) + complaint
        self.exit = self.exit or Exit(None, "the death of its supervisor", 0)
        self.killed = True
        self.start_error = self.start_error or complaint or "its supervisor was killed"
        self.ended = True

    def _close(self) -> None:
        for pipe in (self._supervisor.stdin, self._supervisor.stdout, self._supervisor.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def start_until_ready(
    name: str,
    task: Task,
    attempt: Callable[[SupervisedProcess, float], T],
    *,
    timeout_s: float,
    hint: str = "",
) -> tuple[SupervisedProcess, T]:
    """Start a task and wait until it is ready, as `SupervisedProcess.wait_until_ready` does.

    Raises `StartFailed`, leaving nothing running.
    """
    process = SupervisedProcess(task)
    try:
        if process.start_error:
            command = one_line(" ".join(task.command))[:LINE_CHARACTERS]
            raise StartFailed(f"{name}: `{command}` could not be run: {process.start_error}")
        return process, process.wait_until_ready(name, attempt, timeout_s=timeout_s, hint=hint)
    except BaseException:
        process.stop()
        raise


def last_lines(text: str, lines: int = OUTPUT_LINES, width: int = LINE_CHARACTERS) -> str:
    """The last lines of what was printed, each cut to `width` characters, without control characters."""
    clean = "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
    kept = [line[:width] + ("…" if len(line) > width else "") for line in clean.rstrip().split("\n")]
    return "\n".join(kept[-lines:])


def _end_of(path: Path) -> str:
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - supervisor.REPORTED_TAIL_BYTES))
        return file.read().decode(errors="replace")
    return ""
