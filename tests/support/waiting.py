"""Waiting for what other processes do."""

import socket
import subprocess
import time
from collections.abc import Callable

PATIENCE_S = 30.0


def eventually(condition: Callable[[], bool]) -> None:
    """Returns as soon as `condition` holds; fails where it does not in `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def listening(port: int, process: subprocess.Popen[bytes]) -> None:
    """Returns as soon as somebody listens on the port; fails where the process ends before."""

    def connected() -> bool:
        assert process.poll() is None, "the server has ended"
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    eventually(connected)
