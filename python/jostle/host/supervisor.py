"""Starts one process tree, limits the output that is kept, and ends the whole tree, whatever happens.

Run as `python -I -S supervisor.py`, in a session of its own, one for each tree; standard library only. It is
the parent of the tree's first process and the subreaper of everything below, so no descendant can escape it,
not even one that has created a session of its own. The tree is ended (SIGTERM, then SIGKILL after the grace
time) when jostle asks for it, when jostle dies, even by `kill -9`, and when the first process ends.

    in    first line: the task as JSON (`Task` in supervised.py); then any input, or its end, means stop
    out   a JSON line per event: {"event": "started", "pid"} or {"event": "failed", "reason"};
          {"event": "exited", "code", "signal", "others", "out_of_memory"} when the first process ends by
          itself; out_of_memory: the kernel has killed a process of the tree's own control group;
          {"event": "ended", "tail", "killed"} once nothing is left; killed: SIGTERM was not enough
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import resource
import select
import shutil
import signal
import time
from typing import Any, NoReturn

HEAD_BYTES = TAIL_BYTES = 256 * 1024
"""How much is kept of the beginning of the output, and of its end."""
SAVE_EVERY_S = 0.2
KILL_FOR_S = 10.0
"""How long SIGKILL is repeated to a tree that keeps forking."""
LEFT_WITHIN_S = 1.0
"""How long removing a control group is retried: it may be busy briefly after its last process has ended."""
MORE_LOOKS = 5
PIPE_BYTES = 1 << 20
REPORTED_TAIL_BYTES = 16 * 1024

F_SETPIPE_SZ = 1031
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 36, 38

_prctl = ctypes.CDLL(None, use_errno=True).prctl


def prctl(option: int, value: int) -> None:
    if _prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def report(event: str, **fields: Any) -> None:
    """Tell jostle, if it is still alive."""
    with contextlib.suppress(OSError):
        os.write(1, json.dumps({"event": event, **fields}).encode() + b"\n")


class Output:
    """A file with the beginning and the end of what was printed, however much it was."""

    def __init__(self, path: str) -> None:
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        self.head_bytes = 0
        self.dropped_bytes = 0
        self.tail = bytearray()
        self.saved = True

    def write(self, data: bytes) -> None:
        head = data[: HEAD_BYTES - self.head_bytes]
        if head:
            self._put(head, self.head_bytes)
            self.head_bytes += len(head)
        if len(head) < len(data):
            self.tail += data[len(head) :]
            self.saved = False
            if len(self.tail) > 2 * TAIL_BYTES:
                self._trim()

    def save(self) -> None:
        """Write the end of the output after its beginning, replacing the end written before."""
        if self.saved:
            return
        self._trim()
        note = f"\n… {self.dropped_bytes} bytes left out …\n".encode() if self.dropped_bytes else b""
        self._put(note + self.tail, self.head_bytes)
        with contextlib.suppress(OSError):
            os.ftruncate(self.fd, self.head_bytes + len(note) + len(self.tail))
        self.saved = True

    def last(self, limit: int) -> bytes:
        self.save()
        return os.pread(self.fd, limit, max(0, os.fstat(self.fd).st_size - limit))

    def _trim(self) -> None:
        excess = max(0, len(self.tail) - TAIL_BYTES)
        self.dropped_bytes += excess
        del self.tail[:excess]

    def _put(self, data: bytes, at: int) -> None:
        with contextlib.suppress(OSError):  # a full disk must not end the task
            os.pwrite(self.fd, data, at)


class Supervisor:
    """The parent of the first process; `run` is its whole life."""

    def __init__(self, task: dict[str, Any], jostle: int) -> None:
        self.task = task
        self.jostle = jostle
        self.output = Output(task["output"])
        self.first = 0  # pid of the first process
        self.status: int | None = None  # of the first process, as waitpid returns it
        self.poll = select.poll()
        self.saved_at = 0.0
        self.closed = False
        self.groups: set[int] = set()  # process groups of the tree, once it is being ended
        self.killed = False

    def run(self) -> None:
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._watch_signals()
        self._watch_jostle()
        started = self._start()
        stop = not started
        while not stop and self.status is None:
            stop = self._serve(SAVE_EVERY_S if not self.output.saved else None)
        if started:
            if self.status is not None:
                killed = out_of_memory(self.task["group"]) if self.task.get("group") else False
                report("exited", **exit_of(self.status), others=len(self._living()), out_of_memory=killed)
            self._end_tree()
        self._drain()
        if self.task.get("group"):
            remove_group(self.task["group"])
        if self.task.get("scratch"):
            shutil.rmtree(self.task["scratch"], ignore_errors=True)
        tail = self.output.last(REPORTED_TAIL_BYTES).decode(errors="replace")
        report("ended", tail=tail, killed=self.killed)

    def _watch_signals(self) -> None:
        self.woken, wake = os.pipe()
        for end in (self.woken, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)
        self.poll.register(self.woken, select.POLLIN)

    def _watch_jostle(self) -> None:
        """Notice its death. It closes stdin unless a child holds the other end; the pidfd always tells."""
        self.poll.register(0, select.POLLIN)
        with contextlib.suppress(OSError):
            self.jostle_fd = os.pidfd_open(self.jostle)
            self.poll.register(self.jostle_fd, select.POLLIN)

    def _serve(self, timeout_s: float | None) -> bool:
        """Wait for an event and handle it. Returns whether the tree is to be ended."""
        stop = False
        for fd, _ in self.poll.poll(None if timeout_s is None else timeout_s * 1000):
            if fd == self.woken:
                signals = os.read(fd, 4096)
                stop |= any(number != signal.SIGCHLD for number in signals)
                self._reap()
            elif fd == self.printed:
                self._read_output()
            else:
                self.poll.unregister(fd)
                stop = True
        if time.monotonic() - self.saved_at > SAVE_EVERY_S:
            self.output.save()
            self.saved_at = time.monotonic()
        return stop

    def _start(self) -> bool:
        self.printed, printing = os.pipe()
        os.set_blocking(self.printed, False)
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.printed, F_SETPIPE_SZ, PIPE_BYTES)
        failed, failing = os.pipe()
        supervisor = os.getpid()
        try:
            self.first = os.fork()
        except OSError as error:  # no more processes
            report("failed", reason=error.strerror, errno=error.errno)
            return False
        if self.first == 0:
            become_the_task(self.task, supervisor, printing, failing)
        os.close(printing)
        os.close(failing)
        self.poll.register(self.printed, select.POLLIN)
        with os.fdopen(failed, "rb") as pipe:
            reason = pipe.read().decode(errors="replace")
        if reason:
            os.waitpid(self.first, 0)
            report("failed", reason=reason)
            return False
        report("started", pid=self.first)
        return True

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
                if ended[0] == self.first:
                    self.status = ended[1]

    def _read_output(self) -> bool:
        """Read what has been printed. Returns whether there was anything."""
        try:
            data = os.read(self.printed, PIPE_BYTES)
        except BlockingIOError:
            return False
        self.output.write(data)
        if not data and not self.closed:  # closed by every process that could print
            self.closed = True
            self.poll.unregister(self.printed)
        return bool(data)

    def _drain(self) -> None:
        while self._read_output():
            pass

    def _end_tree(self) -> None:
        start = time.monotonic()
        grace_s = self.task["grace_s"]
        self._send(signal.SIGTERM)
        while self._has_children() and (waited := time.monotonic() - start) < grace_s + KILL_FOR_S:
            if waited >= grace_s:
                self.killed = True
                self._send(signal.SIGKILL)
            self._serve(0.02)
            self._reap()

    def _send(self, number: int) -> None:
        """Send a signal to whole process groups, so that no process can fork between a look and the signal.

        It goes to every group seen so far, as a look through /proc can miss all of a tree that keeps forking.
        """
        self.groups |= set(self._living().values())
        for group in self.groups:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, number)

    def _has_children(self) -> bool:
        """Whether anything is left of the tree: orphans become children of this process (subreaper)."""
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return False
        return True

    def _living(self) -> dict[int, int]:
        """Living processes of the tree, with their process groups.

        One look misses a process whose parent ends in the meantime, so it looks again if it finds none.
        """
        found = descendants(os.getpid())
        for _ in range(MORE_LOOKS):
            if found or not self._has_children():
                break
            self._reap()
            found = descendants(os.getpid())
        return found


def become_the_task(task: dict[str, Any], supervisor: int, printing: int, failing: int) -> NoReturn:
    """Runs in the forked child: set up the task's environment, then become the task."""
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(printing, 1)
        os.dup2(printing, 2)
        for number in (
            signal.SIGPIPE,
            signal.SIGXFSZ,
            signal.SIGINT,
            signal.SIGTERM,
            signal.SIGHUP,
            signal.SIGCHLD,
        ):
            signal.signal(number, signal.SIG_DFL)
        _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if task.get("group"):
            enter_group(task["group"])
        if task.get("cores"):
            os.sched_setaffinity(0, task["cores"])
        if task.get("uid") is not None:
            os.setgroups([])
            os.setgid(task["gid"])
            os.setuid(task["uid"])
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after setuid, which would clear it
        if os.getppid() != supervisor:
            os._exit(127)
        os.umask(0o022)
        os.chdir(task["folder"])
        os.execve(program(task["command"][0], task["env"]), task["command"], task["env"])
    except OSError as error:
        os.write(failing, f"{error.strerror}{f': {error.filename}' if error.filename else ''}".encode())
    except BaseException as error:
        os.write(failing, repr(error).encode())
    os._exit(127)


def enter_group(folder: str) -> None:
    """Move this process into a control group, in which its children then start."""
    with open(os.path.join(folder, "cgroup.procs"), "w") as file:  # noqa: PTH118, PTH123
        file.write(str(os.getpid()))


def out_of_memory(folder: str) -> bool:
    """Whether the kernel has killed a process of the control group for memory (versions 2 and 1)."""
    for name in ("memory.events", "memory.oom_control"):
        with contextlib.suppress(OSError), open(os.path.join(folder, name)) as file:  # noqa: PTH118, PTH123
            return any(line.startswith("oom_kill ") and int(line.split()[1]) > 0 for line in file)
    return False


def remove_group(folder: str) -> None:
    """Remove a control group as soon as it is empty."""
    give_up = time.monotonic() + LEFT_WITHIN_S
    while time.monotonic() < give_up:
        try:
            os.rmdir(folder)  # noqa: PTH106
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)
        else:
            return


def program(name: str, env: dict[str, str]) -> str:
    """The command's path. `execvp` would report the first folder on PATH that it may not read instead."""
    found = name if "/" in name else shutil.which(name, path=env.get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "no such command", name)
    return found


def exit_of(status: int) -> dict[str, Any]:
    """How a process ended: its exit code, or the name of the signal that ended it."""
    if os.WIFSIGNALED(status):
        return {"code": None, "signal": signal_name(os.WTERMSIG(status))}
    return {"code": os.WEXITSTATUS(status), "signal": None}


def signal_name(number: int) -> str:
    known = {member.value: member.name for member in signal.Signals}
    return known.get(number, f"signal {number}")


def descendants(root: int) -> dict[int, int]:
    """All living processes below `root` with their process groups, whose members are all below it too."""
    children: dict[int, list[int]] = {}
    groups = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                state, parent, group = file.read().rpartition(b") ")[2].split(None, 3)[:3]
                if state not in (b"Z", b"X"):
                    children.setdefault(int(parent), []).append(int(name))
                    groups[int(name)] = int(group)
    below = list(children.get(root, ()))
    for pid in below:  # the list grows during the loop
        below += children.get(pid, ())
    return {pid: groups[pid] for pid in below}


def read_task() -> dict[str, Any]:
    """The first line of stdin, read byte by byte so that the rest stays in the pipe; {} if there is none."""
    line = bytearray()
    while byte := os.read(0, 1):
        if byte == b"\n":
            return dict(json.loads(line))
        line += byte
    return {}


def main() -> None:
    jostle = os.getppid()
    task = read_task()
    if task:
        for fd in task["hold"]:
            os.set_inheritable(fd, False)
        Supervisor(task, jostle).run()


if __name__ == "__main__":
    main()
