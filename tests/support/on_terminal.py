"""A command on a terminal of its own, as in a window of a user."""

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["OnTerminal", "on_terminal"]

PATIENCE_S = 60.0


@dataclass
class OnTerminal:
    """A running command; `written` is what its terminal was sent."""

    process: "subprocess.Popen[bytes]"
    master: int
    slave: int
    written: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        return self.written.decode("utf-8", "replace").replace("\r\n", "\n")

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def read_until(self, done: Callable[[str], bool]) -> str:
        """Read until `done` says of all the text so far that this is enough."""
        ends = time.monotonic() + PATIENCE_S
        while not done(self.text):
            assert time.monotonic() < ends, self.text[-2000:]
            self._read(0.1)
        return self.text

    def wait(self) -> int:
        """Read to the end. Returns the exit code."""
        self.read_until(lambda _: self.process.poll() is not None)
        while self._read(0.0):
            pass
        return self.process.returncode

    def _read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self.master], [], [], seconds)
        read = os.read(self.master, 65536) if ready else b""
        self.written += read
        return read

    @property
    def is_as_it_was(self) -> bool:
        """Whether the terminal reads whole lines and echoes them."""
        modes = termios.tcgetattr(self.slave)[3]
        return bool(modes & termios.ICANON and modes & termios.ECHO)


@contextlib.contextmanager
def on_terminal(
    words: Sequence[str], environment: Mapping[str, str], columns: int = 100, lines: int = 30
) -> Iterator[OnTerminal]:
    """Start a command whose terminal is a new one; it is killed if it still runs at the end."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen(
        words,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={"TERM": "xterm-256color", **environment},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    try:
        yield OnTerminal(process, master, slave)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(master)
        os.close(slave)
