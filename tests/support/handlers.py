"""HTTP servers for tests, on Python's own: a handler says what is answered."""

import contextlib
import http.server
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

__all__ = ["Handler", "certificate_in", "serving"]


class Handler(http.server.BaseHTTPRequestHandler):
    """Keeps connections, sends at once, and prints nothing."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def body(self) -> str:
        """What came after the request's head."""
        return self.rfile.read(int(self.headers["Content-Length"])).decode()

    def response(self, status: int, body: str = "", headers: dict[str, str] | None = None) -> None:
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
def serving(
    handler: type[http.server.BaseHTTPRequestHandler],
    secured_in: Path | None = None,
    host: str = "127.0.0.1",
    context: ssl.SSLContext | None = None,
) -> Iterator[str]:
    """A server in a thread, on a free port; its URL, without a slash at the end.

    `secured_in`: over TLS, with a key of its own, which is made in this folder. `context`: over TLS with
    these settings.
    """
    if secured_in is not None:
        context = _context(secured_in)
    with http.server.ThreadingHTTPServer((host, 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        # Whoever stops it waits for as long as it waits for connections.
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"{'http' if context is None else 'https'}://{host}:{server.server_port}"
        server.shutdown()
        thread.join()


def certificate_in(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost that is signed by itself, and its key: cert.pem and key.pem."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    written = ["-keyout", str(key), "-out", str(certificate)]
    line = ["openssl", "req", "-x509", *kind, "-subj", "/CN=localhost", *written]
    subprocess.run(line, check=True, capture_output=True)
    return certificate, key


def _context(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate_in(folder))
    return context
