"""Real command, real servers, port 0, loopback."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.real import Jostle, command, environment, reference_server


@pytest.fixture
def null_server() -> Iterator[str]:
    with reference_server("null") as url:
        yield url


@pytest.fixture
def jostle_command(tmp_path: Path) -> Jostle:
    """Run `jostle …` as a user would, in an empty folder."""

    def run(*arguments: str | Path, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment(),
        )

    return run
