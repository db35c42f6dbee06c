"""Tuning against a server that answers something else than HTTP."""

import socketserver
import threading
from collections.abc import Iterator

import pytest

from jostle.errors import ContestantError
from jostle.runner.tune import _seconds


class Says(socketserver.StreamRequestHandler):
    """Answers what its server says to everything, and hangs up."""

    def handle(self) -> None:
        self.rfile.readline()
        self.wfile.write(self.server.says)  # type: ignore[attr-defined]


@pytest.fixture
def server() -> Iterator[socketserver.TCPServer]:
    with socketserver.TCPServer(("127.0.0.1", 0), Says) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    "says", [b"hello\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", b"", b"HTTP/1.1 600 X\r\n\r\n"]
)
def test_no_response_in_http_is_the_contestants_fault(server: socketserver.TCPServer, says: bytes) -> None:
    server.says = says  # type: ignore[attr-defined]
    with pytest.raises(ContestantError, match=r"could not be tuned: http://.* gave no response"):
        _seconds("http://{}:{}/".format(*server.server_address))
