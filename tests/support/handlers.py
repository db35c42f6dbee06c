"""HTTP servers for tests, on Python's own: a handler says what is answered."""

import contextlib
import http.server
import threading
from collections.abc import Iterator

__all__ = ["Handler", "serving"]


class Handler(http.server.BaseHTTPRequestHandler):
    """Keeps connections, sends at once, and prints nothing."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def body(self) -> str:
        """What came after the request's head."""
        return self.rfile.read(int(self.headers["Content-Length"])).decode()

    def answer(self, status: int, body: str = "", headers: dict[str, str] | None = None) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextlib.contextmanager
def serving(handler: type[http.server.BaseHTTPRequestHandler]) -> Iterator[str]:
    """A server in a thread, on a free port; its URL, without a slash at the end."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        # Whoever stops it waits for as long as it waits for connections.
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
