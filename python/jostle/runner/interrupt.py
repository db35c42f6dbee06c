"""How a run is stopped by Ctrl-C, SIGTERM or a closed terminal (SIGHUP), and where that may interrupt it."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["Stop", "let_signals_stop_like_ctrl_c", "press_ctrl_c", "stopping"]


class Stop:
    """Whether the user has asked to stop."""

    requested = False


def let_signals_stop_like_ctrl_c() -> None:
    """Make SIGTERM and SIGHUP act like Ctrl-C, so that a run records what it has before it ends.

    Signals that are ignored (SIGHUP under nohup) stay so.
    """

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)


def press_ctrl_c() -> bool:
    """Stop what the main thread does, from any thread, as Ctrl-C would; as SIGTERM would where Ctrl-C is
    ignored, as in the background of a script. False if both are: nothing is stopped.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if callable(signal.getsignal(number)):
            os.kill(os.getpid(), number)
            return True
    return False


@contextlib.contextmanager
def stopping() -> Iterator[Stop]:
    """Inside, the first of these signals is only noted in `Stop`, so that the code inside can end cleanly.

    Python raises `KeyboardInterrupt` between any two instructions, which would lose an interval that has just
    come from the engine or is half written. Here it is raised at the end. A second signal takes effect at
    once, for users who do not want to wait.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread receives signals
        return
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if callable(handler := signal.getsignal(number))  # default actions and ignored ones stay
    }

    def note(number: int, frame: FrameType | None) -> None:
        if stop.requested:
            before[signal.Signals(number)](number, frame)
        stop.requested = True

    for number in before:
        signal.signal(number, note)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stop.requested:
        raise KeyboardInterrupt
