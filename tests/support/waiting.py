"""Waiting for what other processes do."""

import socket
import subprocess
import time
from collections.abc import Callable

PATIENCE_S = 30.0


def eventually(
    condition: Callable[[], bool], otherwise: str = "it did not come to pass", patience_s: float = PATIENCE_S
) -> None:
    """Returns as soon as `condition` holds; fails with `otherwise` where it does not in `patience_s`."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"{otherwise} ({patience_s:g} s)"
        time.sleep(0.01)


def listening(port: int, process: subprocess.Popen[bytes]) -> None:
    """Returns as soon as somebody listens on the port; fails where the process ends before."""

    def connected() -> bool:
        assert process.poll() is None, "the server has ended"
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", port)) == 0

    eventually(connected)
