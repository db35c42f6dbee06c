"""The servers under every tool, on a core of their own: nginx with one worker, grpc-go, and jostle's
reference servers."""

import contextlib
import http.client
import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from tools import ECHO_PROTO
from watched import SERVER_CORE

from jostle.contestant.tools import REFERENCE

__all__ = [
    "Counting",
    "GrpcServer",
    "Nginx",
    "free_port",
    "grpc_go",
    "nginx",
    "reference",
    "references",
    "wait_for",
]

CONFIGURATION = """
worker_processes 1;
worker_rlimit_nofile 20000;
daemon off;
pid {folder}/pid;
error_log {folder}/error.log crit;
events {{ worker_connections 19500; }}
http {{
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ default_type text/plain; return 200 "{body}"; }}
    location /journey/ {{ default_type application/json; return 200 '{document}'; }}
    location = /status {{ stub_status; }}
  }}
  server {{
    listen 127.0.0.1:{http2_port} http2 backlog=4096;
    http2_max_concurrent_streams 1000;
    location / {{ default_type text/plain; return 200 "{body}"; }}
  }}
}}
"""


DOCUMENT = (
    '{"user": {"name": "ann", "token": "3f786850e387550fdab836ed7e6dc881"}, "items": [{"id": "4711", '
    '"name": "tea", "price": "12.50"}, {"id": "4712", "name": "more tea", "price": "14.00"}]}'
)
"""The response to every step of a journey."""


class Counting(Protocol):
    """A server that says how many requests it has had."""

    def requests(self) -> int: ...


class GrpcServer:
    """grpc-go, which sends a message back. It counts its calls, so that no tool has to be believed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = f"127.0.0.1:{self._number()}"

    def requests(self) -> int:
        """Calls so far."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self._number()

    def _number(self) -> int:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.strip().isdigit():
            raise RuntimeError(f"grpc-go-server said {line!r}")
        return int(line)


class Nginx:
    """1 kB from memory. It counts what it is asked, so that no tool has to be believed."""

    def __init__(self, port: int, http2_port: int) -> None:
        self.port = port
        self.http2_url = f"http://127.0.0.1:{http2_port}/"
        self.url = f"http://127.0.0.1:{port}/"
        self._own = 0
        # One connection, kept: a new one may wait for minutes to be accepted while a crowd is served.
        self._asking = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def requests(self) -> int:
        """Requests so far, without those for this number."""
        self._own += 1
        found = re.search(r"\n\s*\d+ \d+ (\d+)", self._status())
        assert found
        return int(found[1]) - self._own

    def connections(self) -> int:
        """Open now, without the one that asks."""
        self._own += 1
        found = re.match(r"Active connections: (\d+)", self._status())
        assert found
        return int(found[1]) - 1

    def _status(self) -> str:
        self._asking.request("GET", "/status")
        return self._asking.getresponse().read().decode()


@contextlib.contextmanager
def nginx() -> Iterator[Nginx]:
    """Run nginx on the server's core."""
    with tempfile.TemporaryDirectory() as folder:
        port, http2_port = free_port(), free_port()
        file = Path(folder, "nginx.conf")
        file.write_text(
            CONFIGURATION.format(
                folder=folder, port=port, http2_port=http2_port, body="x" * 1024, document=DOCUMENT
            )
        )
        with _server(["nginx", "-c", str(file)]) as process:
            wait_for(port, process)
            yield Nginx(port, http2_port)


@contextlib.contextmanager
def grpc_go() -> Iterator[GrpcServer]:
    """Run the server of calls on the server's core."""
    with _server(["grpc-go-server", str(ECHO_PROTO)]) as process:
        yield GrpcServer(process)


@contextlib.contextmanager
def reference(*kind: str) -> Iterator[str]:
    """Run a reference server on the server's core; its address with port."""
    command = [str(REFERENCE), *kind]
    with _server(command) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"listening on (127\.0\.0\.1:\d+)\n", line)
        if not found:
            raise RuntimeError(f"{' '.join(command)} said {line!r}")
        yield found[1]


@contextlib.contextmanager
def references(count: int, *kind: str) -> Iterator[list[str]]:
    """So many of them; their addresses."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(reference(*kind)) for _ in range(count)]


@contextlib.contextmanager
def _server(command: list[str]) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {SERVER_CORE}),
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_for(port: int, process: "subprocess.Popen[str]") -> None:
    give_up = time.monotonic() + 10
    while time.monotonic() < give_up:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            raise RuntimeError(
                f"{process.args} did not start: {process.stdout.read() if process.stdout else ''}"
            )
        time.sleep(0.02)
    raise RuntimeError(f"{process.args} did not start within 10 s")
