"""Waiting for what other processes do."""

import time
from collections.abc import Callable

PATIENCE_S = 20.0


def eventually(condition: Callable[[], bool]) -> None:
    """Returns as soon as `condition` holds; fails where it does not in `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
