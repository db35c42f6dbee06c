"""Real command, real servers, port 0, loopback."""

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.forked import Forked
from support.real import Jostle, environment, reference_server


@pytest.fixture
def null_server() -> Iterator[str]:
    with reference_server("null") as url:
        yield url


@pytest.fixture(scope="session")
def forked() -> Iterator[Forked]:
    with contextlib.closing(Forked(environment())) as started:
        yield started


@pytest.fixture
def jostle_command(tmp_path: Path, forked: Forked) -> Jostle:
    """Run `jostle …` as a user would, in an empty folder."""

    def run(*arguments: str | Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return forked.run([*map(str, arguments)], tmp_path, environment(), timeout)

    return run
