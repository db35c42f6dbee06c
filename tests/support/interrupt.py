"""Ctrl-C from within a load, which runs in a thread of its own."""

import signal

__all__ = ["ctrl_c"]


def ctrl_c() -> None:
    """What the main thread does when it comes; done when this returns."""
    handler = signal.getsignal(signal.SIGINT)
    assert callable(handler)
    handler(signal.SIGINT, None)
