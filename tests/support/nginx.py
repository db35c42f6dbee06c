"""nginx with all that it writes in one folder."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from support.waiting import eventually

CONFIGURATION = """
daemon off; master_process off; error_log {folder}/error.log; pid {folder}/pid;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
  uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
  {http}
}}
"""


@contextlib.contextmanager
def nginx(folder: Path, http: str) -> Iterator[int]:
    """Listens while the block runs; its process id. `http`: the servers, and what else its block of that name
    should have.
    """
    configuration, log, pid = folder / "nginx.conf", folder / "error.log", folder / "pid"
    configuration.write_text(CONFIGURATION.format(folder=folder, http=http))
    process = subprocess.Popen(["nginx", "-p", folder, "-e", log, "-c", configuration])

    def listens() -> bool:
        assert process.poll() is None, log.read_text()
        return pid.exists()  # written as soon as it listens

    try:
        eventually(listens)
        yield process.pid
    finally:
        process.terminate()
        process.wait(10)
