"""Single keys of a terminal, read without echo, which leave it as it was however the command ends."""

import contextlib
import os
import select
import signal
import sys
import termios
import threading
import tty
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["Keys", "read_keys"]


class Keys:
    """Keys that were pressed; none if standard input is no terminal, or not ours."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def wait(self, seconds: float, wake: int) -> str:
        """The keys pressed within `seconds`, as soon as there are any, or `wake` can be read."""
        keys = self._fd if self._fd is not None and _in_foreground(self._fd) else None
        ready, _, _ = select.select([fd for fd in (keys, wake) if fd is not None], [], [], seconds)
        if keys is None or keys not in ready:
            return ""
        try:
            return os.read(keys, 64).decode("ascii", "replace")
        except OSError:
            self._fd = None
            return ""


@contextlib.contextmanager
def read_keys(stopped: Callable[[], None], continued: Callable[[], None]) -> Iterator[Keys]:
    """Inside, keys come one by one. `stopped`, `continued`: called around a stop by Ctrl-Z."""
    fd = _terminal()
    if fd is None:
        yield Keys(None)
        return
    before = termios.tcgetattr(fd)

    def restore() -> None:
        if _in_foreground(fd):
            termios.tcsetattr(fd, termios.TCSADRAIN, before)

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped()
        restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # here it stands still until it is continued
        signal.signal(signal.SIGTSTP, stop)
        if _in_foreground(fd):
            tty.setcbreak(fd, termios.TCSADRAIN)
        continued()

    of_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGTSTP, stop) if of_main else None
    try:
        tty.setcbreak(fd, termios.TCSADRAIN)
        yield Keys(fd)
    finally:
        restore()
        if of_main:
            signal.signal(signal.SIGTSTP, handler)


def _terminal() -> int | None:
    """Standard input, if it is a terminal and this process may change it."""
    try:
        fd = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return None
    return fd if os.isatty(fd) and _in_foreground(fd) else None


def _in_foreground(fd: int) -> bool:
    """A process in the background would be stopped for reading keys, or for changing the terminal."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False
