"""The command `jostle` as processes of its own that need not import it: they are forked from one that has.

As a program, this is that process. It gets the words, the folder, the environment, the cores, and three
files for each command: its standard output, its standard error, and where to write the pid, and in the end
the exit code.
"""

import contextlib
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

__all__ = ["Forked"]

LARGEST = 1 << 20
"""Bytes of what is asked at once."""

IMPORTED = (
    *(f"jostle.cli.{name}" for name in ("execution", "hit", "run", "race", "explain", "capacity", "report")),
    *("jostle.analysis.run", "jostle.plan.hit.plan", "jostle.report.build", "jinja2"),
)
"""Modules that most commands import."""


class Forked:
    """Runs commands. `close` ends the process that they are forked from."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._asked, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                env={**environment, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                pass_fds=[theirs.fileno()],
            )

    def close(self) -> None:
        self._asked.close()
        self._process.wait()

    def run(
        self, words: Sequence[str], folder: Path, environment: dict[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """`jostle WORDS…` in the folder, until it has ended. Raises subprocess.TimeoutExpired."""
        ours, theirs = socket.socketpair()
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaints, ours:
            cores = sorted(os.sched_getaffinity(0))
            message = json.dumps(
                {"words": words, "folder": str(folder), "environment": environment, "cores": cores}
            )
            with theirs:
                files = [out.fileno(), complaints.fileno(), theirs.fileno()]
                socket.send_fds(self._asked, [message.encode()], files)
            ours.settimeout(timeout)
            with ours.makefile() as told:
                pid = int(told.readline())
                try:
                    code = int(told.readline())
                except TimeoutError:
                    os.kill(pid, 9)
                    raise subprocess.TimeoutExpired(["jostle", *words], timeout) from None
            out.seek(0)
            complaints.seek(0)
            return subprocess.CompletedProcess(["jostle", *words], code, out.read(), complaints.read())


def serve(asked: socket.socket) -> None:
    """Fork for each command, until nobody can ask for one any more. Returns in the command as well."""
    while True:
        try:
            message, files, *_ = socket.recv_fds(asked, LARGEST, 3)
        except KeyboardInterrupt:
            return
        if not message:
            return
        if os.fork() == 0:
            asked.close()
            out, complaints, told = files
            pid = os.fork()
            if pid == 0:
                os.dup2(out, 1)
                os.dup2(complaints, 2)
                for file in files:
                    os.close(file)
                become(**json.loads(message))
                return
            os.write(told, f"{pid}\n".encode())
            _, status = os.waitpid(pid, 0)
            os.write(told, f"{os.waitstatus_to_exitcode(status)}\n".encode())
            os._exit(0)
        for file in files:
            os.close(file)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass


def become(words: list[str], folder: str, environment: dict[str, str], cores: list[int]) -> None:
    """Do what `jostle WORDS…` would on these cores; leaves by SystemExit."""
    from jostle import cli

    os.sched_setaffinity(0, cores)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["jostle", *words]
    cli.main()


if __name__ == "__main__":
    for name in IMPORTED:
        importlib.import_module(name)
    serve(socket.socket(fileno=int(sys.argv[1])))
