"""How a run is stopped: Ctrl-C, SIGTERM or a closed terminal (SIGHUP), and where they may break in."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["Stop", "let_signals_stop_like_ctrl_c", "stopping"]


class Stop:
    """Whether the user has asked to stop."""

    asked = False


def let_signals_stop_like_ctrl_c() -> None:
    """A run that has to end records what it has, for whatever reason. Under nohup, SIGHUP stays ignored."""

    def interrupt(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, interrupt)


@contextlib.contextmanager
def stopping() -> Iterator[Stop]:
    """Inside, the first of these signals is only noted; whoever is inside looks at it and ends whole.

    Python raises `KeyboardInterrupt` between any two instructions: an interval that has just come from the
    engine, or is half written, would be lost. Here it is raised at the end. A second signal is raised at
    once, for those who will not wait.
    """
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # signals reach the main thread only
        return
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if callable(handler := signal.getsignal(number))  # one that kills or is ignored stays so
    }

    def note(number: int, frame: FrameType | None) -> None:
        if stop.asked:
            before[signal.Signals(number)](number, frame)
        stop.asked = True

    for number in before:
        signal.signal(number, note)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stop.asked:
        raise KeyboardInterrupt
