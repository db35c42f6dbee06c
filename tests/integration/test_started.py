"""`jostle contestants start`: it serves until it is stopped."""

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import pytest

from support.real import command, environment

LABEL = "reference-null"


@pytest.fixture
def surroundings() -> Iterator[dict[str, str]]:
    """A cache of its own."""
    with TemporaryDirectory(prefix="jostle-test-") as name:
        Path(name).chmod(0o755)
        yield {**environment(), "JOSTLE_CACHE": name}


@contextmanager
def started(surroundings: dict[str, str]) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """The command, and the URL that it told."""
    starting = subprocess.Popen(
        command("contestants", "start", LABEL), env=surroundings, stdout=subprocess.PIPE, text=True
    )
    with starting as holder:
        try:
            assert holder.stdout is not None
            told = holder.stdout.readline()
            assert told.startswith(f"{LABEL} listens on http://127.0.0.1:")
            yield holder, told.split()[3]
        finally:
            holder.kill()


def listens(url: str) -> bool:
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as attempt:
        return attempt.connect_ex((host, int(port))) == 0


@pytest.mark.parametrize("ended_by", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_stopped(surroundings: dict[str, str], ended_by: signal.Signals) -> None:
    with started(surroundings) as (holder, url):
        with urlopen(url, timeout=10) as response:
            assert response.status == 200
        holder.send_signal(ended_by)
        assert holder.wait(20) == 0
        assert not listens(url)


def test_a_port_that_is_taken_is_told(surroundings: dict[str, str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        starting = command("contestants", "start", LABEL, "--port", str(port))
        finished = subprocess.run(starting, env=surroundings, capture_output=True, text=True, timeout=60)
    assert finished.returncode != 0
    assert str(port) in finished.stderr
    assert "Traceback" not in finished.stderr
