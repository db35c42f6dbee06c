"""The server under every tool: nginx with one worker on a core of its own, 1 kB from memory."""

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

__all__ = ["free_port", "nginx"]

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
  }}
}}
"""


@contextlib.contextmanager
def nginx(core: int) -> Iterator[str]:
    """Run nginx pinned to `core`; its URL."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        file = Path(folder, "nginx.conf")
        file.write_text(CONFIGURATION.format(folder=folder, port=port, body="x" * 1024))
        process = subprocess.Popen(
            ["nginx", "-c", file], preexec_fn=lambda: os.sched_setaffinity(0, {core}), stderr=subprocess.PIPE
        )
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    give_up = time.monotonic() + 10
    while time.monotonic() < give_up:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            raise SystemExit(
                f"nginx did not start: {process.stderr.read().decode() if process.stderr else ''}"
            )
        time.sleep(0.02)
    raise SystemExit("nginx did not start within 10 s")
