"""How long a user waits for the first request of `jostle hit`."""

import socket
import subprocess
import time

from rows import Effort, Row, Section, spread
from tools import JOSTLE


def run(effort: Effort) -> Section:
    seconds = sorted(_first_request_s() for _ in range(2 * effort.rounds + 1))
    row = Row("first request after the command, seconds", "", spread(seconds), None)
    return Section([row], samples=[{"seconds": seconds}])


def _first_request_s() -> float:
    """From starting the command to the first byte of its first request."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        started = time.monotonic()
        process = subprocess.Popen(
            JOSTLE.closed(url, 1), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while True:
                connection, _ = listener.accept()
                with connection:
                    if connection.recv(1):
                        return time.monotonic() - started
        finally:
            process.terminate()
            process.wait()
