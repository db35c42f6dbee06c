"""A process under watch, pinned to one core: the kernel's account of its CPU time and memory."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["SERVER_CORE", "TOOL_CORE", "Watched", "watched"]

SERVER_CORE, TOOL_CORE = 0, 1
PATIENCE_S = 10


class Watched:
    """A running process; everything is asked of the kernel, so all tools are measured alike."""

    def __init__(self, process: "subprocess.Popen[str]", output: Path) -> None:
        self.process = process
        self._output = output

    @property
    def pid(self) -> int:
        return self.process.pid

    def cpu_s(self) -> float:
        """User and system time of all its threads, those that have ended included."""
        return time.clock_gettime(~self.pid << 3 | 2)  # the CPU clock of a process: clock_getcpuclockid(3)

    def load_threads_cpu_s(self) -> float:
        """Of jostle's load threads alone."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        load = [task for task in tasks if (task / "comm").read_text().startswith("jostle-")]
        return sum(int((task / "schedstat").read_text().split()[0]) for task in load) / 1e9

    def peak_bytes(self) -> int:
        """The most memory that it had at any time."""
        return self._memory("VmHWM")

    def memory_bytes(self) -> int:
        return self._memory("VmRSS")

    def _memory(self, line: str) -> int:
        for text in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if text.startswith(f"{line}:"):
                return int(text.split()[1]) * 1024
        raise RuntimeError(f"process {self.pid} has no {line}: {self.said()}")

    def check(self) -> None:
        """Raises `RuntimeError` with its last words when it has ended."""
        if self.process.poll() is not None:
            raise RuntimeError(f"{self.process.args} ended too early: {self.said()}")

    def said(self) -> str:
        return self._output.read_text(errors="replace")[-600:]

    def end(self) -> None:
        """In order, or by force when that takes long."""
        for end in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(end)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(PATIENCE_S)


@contextlib.contextmanager
def watched(command: Sequence[str | Path], folder: Path, *cores: int) -> Iterator[Watched]:
    """Start `command` on these cores or that of tools, its output in `folder`, and end it on leaving."""
    output = folder / "said.txt"
    with output.open("w") as file:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdout=file,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores or {TOOL_CORE}),
        )
    found = Watched(process, output)
    try:
        yield found
    finally:
        found.end()
